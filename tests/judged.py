"""Small judged collections: WC's ten documents, five of them about dolphins."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# WC: "a query for `dolphin-safe tuna' that retrieved four documents about dolphins and two others would have
# a precision of 0.66 and a recall of 0.80"
DOLPHINS = {
    "d1": "dolphin pods of the bay",
    "d2": "the dolphin and her calf",
    "d3": "safe harbours of the bottlenose dolphin",
    "d4": "tuna nets that spare a dolphin",
    "d5": "porpoises, orcas and other cetaceans",  # about dolphins, and does not say so
    "x1": "tuna sandwich with mustard",
    "x2": "a safe place to swim",
    "x3": "growing tomatoes",
    "x4": "tax returns",
    "x5": "violin lessons",
}
ABOUT_DOLPHINS = ("d1", "d2", "d3", "d4", "d5")


def paper(id: str, text: str, **rest: Any) -> dict[str, Any]:
    return {"id": id, "title": "", "text": text, **rest}


def collection(
    folder: Path, papers: Iterable[dict[str, Any]], queries: Iterable[str], qrels: Iterable[str]
) -> Path:
    """A folder for `webcrawler judge`; queries and judgments are lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (
        ("docs.jsonl", map(json.dumps, papers)),
        ("queries.tsv", queries),
        ("qrels.txt", qrels),
    ):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def dolphins(folder: Path) -> Path:
    return collection(
        folder,
        (paper(id, text) for id, text in DOLPHINS.items()),
        ["tuna\tdolphin-safe tuna"],
        (f"tuna 0 {id} {int(id in ABOUT_DOLPHINS)}" for id in DOLPHINS),
    )
