"""Files that are replaced as a whole."""

from __future__ import annotations

import errno
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from webcrawler.files import replaced, sync_folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "file.txt").write_text("old")
    return tmp_path / "file.txt"


def test_file_is_replaced_when_the_block_ends(path: Path) -> None:
    with replaced(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"

    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


def test_old_file_stays_when_writing_fails(path: Path) -> None:
    with pytest.raises(OSError, match="full"), replaced(path) as file:
        file.write(b"ne")
        raise OSError(errno.ENOSPC, "the disk is full")

    assert path.read_text() == "old"


@pytest.mark.parametrize(("number", "raises"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_folder_that_cannot_be_synced_at_all_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, raises: bool
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(OSError) if raises else nullcontext():
        sync_folder(tmp_path)
