"""Files to be written after long work: can they be? That is asked before it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from webcrawler.errors import BadInput


def check_folder(folder: Path) -> None:
    """Make it where it is missing. Raises BadInput where files could not be written to it."""
    with _told_of(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


def check_file(file: Path) -> None:
    """Raises BadInput: its folder is missing, perhaps mistyped, or it could not be written. Leaves it."""
    with _told_of(file):
        if _is_special(file):
            file.open("ab").close()
            return
        if not file.parent.is_dir():
            raise BadInput(f"cannot write to {file}: there is no folder {file.parent}")
    check_folder(file.parent)


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Written aside and swapped in: what was there stays when the disk is full. Raises BadInput."""
    aside = file if _is_special(file) else file.with_name(file.name + ".part")
    with _told_of(file):
        aside.write_text(json.dumps(value) + "\n", encoding="utf-8")
        if aside != file:
            aside.replace(file)


def _is_special(file: Path) -> bool:
    """A device or pipe, as /dev/stdout, which nothing can replace; a folder, which cannot be opened."""
    return file.exists() and not file.is_file()


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot write to {path}: {error.strerror}") from None
