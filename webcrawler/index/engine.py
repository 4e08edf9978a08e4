"""What the follower writes through, whatever searches it afterwards; chosen by name (INDEX_ENGINE)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from webcrawler.errors import BadInput
from webcrawler.records import Document, Text

# Where each stands; imported when it is chosen, as tantivy is an extra.
ENGINES = {
    "whoosh": "webcrawler.index.whoosh.engine:WhooshEngine",
    "tantivy": "webcrawler.index.tantivy.engine:TantivyEngine",
}
DEFAULT = "whoosh"


class Anchored(NamedTuple):
    """A page that others link to, fetched or not, and what they call it."""

    number: int
    url: str
    server: str
    texts: tuple[tuple[str, int], ...]  # anchor texts and how often each counts, the most used first
    cited: tuple[tuple[str, int], ...] = ()  # the same of what pages of other servers say


class Engine(Protocol):
    """Two views of a catalog: its documents, and the anchors of its links. One writer for a data folder.

    Each commit is all or nothing, and holds the seq of the last change it has applied: what a crash cuts off
    is committed again. What is given replaces what was there of the same page number.
    """

    applied: int  # the last seq in a durable commit of documents
    anchors_applied: int  # the same of anchors

    def __init__(self, crawl_dir: Path, catalog: str, aside: bool = False) -> None:
        """Opens both, made new where they are damaged, of another version or of another catalog's identity.

        Args:
            aside: build new ones beside those that are searched.
        """

    def commit(self, gone: Collection[int], documents: Sequence[tuple[Document, Text]], seq: int) -> None: ...

    def commit_anchors(self, gone: Collection[int], anchors: Sequence[Anchored], seq: int) -> None: ...

    def optimize(self) -> None:
        """All is applied: make it quick to search."""

    def close(self) -> None: ...

    @staticmethod
    def applied_in(crawl_dir: Path, catalog: str | None = None) -> tuple[int, int]:
        """`applied` and `anchors_applied` of what searchers see; 0 where there is none of this catalog."""

    @staticmethod
    def exchange(crawl_dir: Path) -> None:
        """Puts what was built aside in place of what is searched."""


def engine_type(name: str) -> type[Engine]:
    """
    Raises:
        BadInput: there is no such engine, or it is not installed.
    """
    if name not in ENGINES:
        raise BadInput(f"INDEX_ENGINE={name}: choose one of {', '.join(ENGINES)}")
    module, _, made = ENGINES[name].partition(":")
    return cast(type[Engine], getattr(import_module(module), made))
