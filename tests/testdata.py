"""What tests stand on that is not in the repository: skipped where it is absent, a failure in CI."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import pytest

_FOLDER = Path(os.environ.get("SHARED_DIR") or Path(__file__).parents[1] / "../shared")


def absent(why: str) -> NoReturn:
    """A laptop may do without a test, CI may not."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def data(name: str) -> Path:
    """A file of the test data, `../shared/data` or that of SHARED_DIR."""
    return _shared("data", name)


def paper(name: str) -> Path:
    """The text of one of the papers that the project stands on, `../shared/papers` or that of SHARED_DIR."""
    return _shared("papers", name)


def _shared(kind: str, name: str) -> Path:
    path = _FOLDER / kind / name
    if not path.exists():
        absent(f"{name} is not in the test data (SHARED_DIR)")
    return path


def needed(module: str, extra: str) -> Any:
    """The module, which an extra installs."""
    try:
        return import_module(module)
    except ImportError:
        absent(f"the extra `{extra}` is not installed")


def archive(name: str) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of each file in a tar archive of the test data."""
    with tarfile.open(data(name)) as files:
        for member in files:
            file = files.extractfile(member)
            if file:
                yield member.name, file.read()
