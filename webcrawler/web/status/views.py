"""How far index, anchors, ranks and vocabulary are behind the catalog, and how much room each part takes."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from webcrawler.background import FOLLOWER, is_held
from webcrawler.index import applied_seq, indexed_documents
from webcrawler.linkgraph import stored

PARTS = ("redis", "pages", "index", "anchors", "ranks", "vocabulary", "feedback")


@dataclass(frozen=True, slots=True)
class View:
    documents: int | None = 0  # None: unknown
    lag: int | None = None  # changes of the catalog that are not in it; None: unknown
    age_seconds: float | None = None  # since it was written; None: it does not exist
    rebuilding: bool = False


def view_of(crawl_dir: Path, name: str, last_seq: int, now: float) -> View:
    """Reads a few small files. A view that is being replaced may seem not to exist."""
    folder = crawl_dir / name
    written = _written(folder)
    if written is None:
        return View(rebuilding=_is_rebuilt(crawl_dir, name))
    documents, applied = _known(folder)
    return View(
        documents,
        None if applied is None else max(0, last_seq - applied),
        max(0.0, now - written),
        _is_rebuilt(crawl_dir, name),
    )


def part_sizes(crawl_dir: Path) -> dict[str, int]:
    """Bytes by part of the data folder; the catalog with its log."""
    sizes = {"catalog": sum(_size(path) for path in crawl_dir.glob("catalog.sqlite*"))}
    for name in PARTS:
        if found := sum(_size(path) for path in (crawl_dir / name).rglob("*")):
            sizes[name] = found
    return sizes


def _known(folder: Path) -> tuple[int | None, int | None]:
    """Documents and the last change applied."""
    if folder.name == "ranks":
        with suppress(OSError, ValueError, KeyError, TypeError):
            return None, int(json.loads((folder / stored.NAME).read_text("utf-8"))["seq"])
        return None, None
    if folder.name == "vocabulary":
        return None, None
    return indexed_documents(folder), applied_seq(folder)


def _is_rebuilt(crawl_dir: Path, name: str) -> bool:
    """The folder alone may be left over from a rebuild that was killed."""
    return (crawl_dir / f"{name}.new").is_dir() and is_held(crawl_dir / f"{FOLLOWER.name}.lock")


def _written(folder: Path) -> float | None:
    """Time of its newest file, without locks and files that are still being written."""
    times = [0.0]
    with suppress(OSError):
        for path in folder.iterdir():
            if path.suffix not in (".lock", ".new") and not path.name.endswith("_LOCK"):
                with suppress(OSError):
                    times.append(path.stat().st_mtime)
    return max(times) or None


def _size(path: Path) -> int:
    with suppress(OSError):  # gone meanwhile
        return path.stat().st_size if path.is_file() else 0
    return 0
