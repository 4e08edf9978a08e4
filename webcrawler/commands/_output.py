"""Where commands write: files that are checked beforehand and replaced in one step, and progress bars."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from webcrawler.errors import BadInput

Progress = Callable[[str, int, int | None], None]  # what is being done, how much is done, of how much


def check_folder(folder: Path) -> None:
    """Create the folder if it is missing. Raises BadInput: files cannot be written to it."""
    with _write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


def check_file(file: Path) -> None:
    """Raises BadInput: the file cannot be written, or its folder is missing. Leaves the file as it is."""
    with _write_errors(file):
        if _is_special(file):
            file.open("ab").close()
            return
        if not file.parent.is_dir():
            raise BadInput(f"cannot write to {file}: there is no folder {file.parent}")
    check_folder(file.parent)


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Raises BadInput: the file cannot be written; a file that was there stays."""
    if _is_special(file):
        with _write_errors(file):
            file.write_text(json.dumps(value) + "\n", encoding="utf-8")
    else:
        with replaced(file) as part:
            part.write_text(json.dumps(value) + "\n", encoding="utf-8")


@contextmanager
def replaced(file: Path) -> Iterator[Path]:
    """A path to write to, which then replaces the file: readers see the old content or the new.

    Raises:
        BadInput: it cannot be written; a file that was there stays.
    """
    part = file.with_name(file.name + ".part")
    try:
        with _write_errors(file):
            yield part
            part.replace(file)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """On a terminal, show a bar for the current step; the bar of the step before makes room for it."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, Any] = {}

        def progress(step: str, done: int, total: int | None) -> None:
            if step not in tasks:
                for earlier in tasks.values():
                    bars.update(earlier, visible=False)
                tasks[step] = bars.add_task(step)
            bars.update(tasks[step], completed=done, total=total)

        yield progress


def _is_special(file: Path) -> bool:
    """A device or pipe such as /dev/stdout, which nothing can replace; or a folder."""
    return file.exists() and not file.is_file()


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot write to {path}: {error.strerror}") from None
