"""Reads a document of any kind but HTML."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

from webcrawler.errors import Unreadable

NONE: Mapping[str, str] = {}


class Target(Protocol):
    """Receives what stands in a document, as lxml tells of HTML; elements nest properly."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...
    def end(self, tag: str) -> None: ...
    def data(self, chunk: str) -> None: ...


def read(kind: str, body: bytes, content_type: str, target: Target) -> None:
    """Tell a target what stands in a document of this kind.

    Raises:
        Unreadable: it is encrypted or damaged, or its reader is not installed.
    """
    try:
        reader = import_module(f"webcrawler.parsing.documents.{kind}")
        target.start("html", NONE)
        reader.read(body, content_type, target)
        target.end("html")
    except (MemoryError, Unreadable):
        raise
    except ImportError as error:
        why = f'{error.name} is not installed: pip install "scrapy-webcrawler[documents]"'
        raise Unreadable(why) from None
    except Exception as error:  # of libraries that read damaged files: zlib's, struct's, lxml's, …
        raise Unreadable(f"it is damaged: {type(error).__name__}: {error}"[:200]) from error


def element(target: Target, tag: str, text: str, attributes: Mapping[str, str] = NONE) -> None:
    """Tell of an element that holds text alone; of none where there is no text."""
    if text:
        target.start(tag, attributes)
        target.data(text)
        target.end(tag)


def described(target: Target, title: str = "", description: str = "", keywords: str = "") -> None:
    """Tell what a document says of itself."""
    element(target, "title", title)
    for name, content in (("description", description), ("keywords", keywords)):
        if content:
            target.start("meta", {"name": name, "content": content})
            target.end("meta")
