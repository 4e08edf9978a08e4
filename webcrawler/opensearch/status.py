"""How a folder and a cluster stand to each other, as `webcrawler sink` says it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from webcrawler.archive.catalog import Catalog
from webcrawler.clock import now
from webcrawler.frontier import folder_name
from webcrawler.opensearch.client import Cluster
from webcrawler.opensearch.indexes import Indexes
from webcrawler.opensearch.mapping import NAMED, PAGES, alias_name
from webcrawler.opensearch.refused import read
from webcrawler.opensearch.state import State

BLOCK = "index.blocks.read_only_allow_delete"  # set by a cluster whose disks are full
ANOTHER = "to be written anew"  # in place of the identity of a catalog


def status(crawl_dir: Path, url: str) -> dict[str, Any]:
    """What of this folder is in the cluster, and what all folders have there.

    Raises:
        BadInput, Unavailable: the cluster cannot be used, or does not answer.
    """
    with closing(Cluster(url)) as cluster:
        cluster.check()
        state = State(cluster)
        indexes = Indexes(cluster, state)
        indexes.find()
        folder, checkpoints = folder_name(crawl_dir), state.checkpoints(indexes.generation)
        own = checkpoints.get(folder)
        return {
            "collection": cluster.name,
            "generation": indexes.generation,
            "searched": indexes.searched(),
            "pages": _count(cluster, PAGES),
            "named": _count(cluster, NAMED),
            "folder": folder,
            **_waiting(crawl_dir, *(own.seq, own.anchors) if own else (0, 0)),
            "refused": len(read(crawl_dir)),
            "blocked": _is_blocked(cluster),
            "folders": {
                name: {"seq": one.seq, "seconds_ago": round(max(0.0, now() - one.at))}
                for name, one in checkpoints.items()
            },
        }


def write_anew(crawl_dir: Path, url: str) -> None:
    """Have the next process of views write all of this folder again; nobody else may write meanwhile.

    Raises:
        BadInput, Unavailable: as for `status`.
    """
    with closing(Cluster(url)) as cluster:
        cluster.check()
        state = State(cluster)
        indexes = Indexes(cluster, state)
        indexes.open()
        before = state.checkpoint(folder_name(crawl_dir), indexes.generation)
        state.keep(folder_name(crawl_dir), indexes.generation, before._replace(identity=ANOTHER))


def _waiting(crawl_dir: Path, seq: int, anchors: int) -> dict[str, int]:
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        last = catalog.last_seq()
    return {"changes_waiting": max(0, last - seq), "anchors_waiting": max(0, last - anchors)}


def _count(cluster: Cluster, kind: str) -> int:
    said = cluster.ask("GET", f"/{alias_name(cluster.name, kind)}/_count", may_lack=True)
    return int(said.get("count", 0))


def _is_blocked(cluster: Cluster) -> bool:
    found = cluster.ask("GET", f"/{cluster.name}-*/_settings/{BLOCK}?flat_settings=true")
    return any(one["settings"].get(BLOCK) == "true" for one in found.values())
