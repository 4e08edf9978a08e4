"""Generations of the two indexes of a collection: how they are made, and when searches change over.

Another mapping, or another way to make documents, begins a new generation beside the one that is searched.
Searches change over once each folder has written into the new one what the old one has of it; that stays
until its owner deletes it.
"""

from __future__ import annotations

import re
from typing import Any

from webcrawler.clock import now
from webcrawler.errors import BadInput, Unavailable
from webcrawler.opensearch import mapping
from webcrawler.opensearch.client import PASSING, Cluster, reason
from webcrawler.opensearch.mapping import LIVING, NAMED, PAGES, alias_name, index_name
from webcrawler.opensearch.state import State

KINDS = (PAGES, NAMED)
GONE_SECONDS = 7 * 86400.0  # since a folder wrote: it is no more, or has another name


class Indexes:
    """Those of one collection.

    Raises:
        BadInput: an index of somebody else has our name.
    """

    def __init__(self, cluster: Cluster, state: State) -> None:
        self._cluster, self._state = cluster, state
        self.generation = 0  # the one that is written

    def name(self, kind: str) -> str:
        return index_name(self._cluster.name, kind, self.generation)

    def open(self) -> None:
        """Find the generation of this mapping, or make it."""
        is_only = self.find()
        for kind in KINDS:
            self._create(kind, is_searched=is_only)

    def find(self) -> bool:
        """Find which generation has this mapping, or would have it; returns whether there is no other."""
        self._state.create()
        known = self._known()
        newest = max(known, default=0)
        self.generation = newest if known.get(newest) == mapping.digest() else newest + 1
        return known.keys() <= {self.generation}

    def _known(self) -> dict[int, str]:
        """The digest of the mapping of each generation."""
        alias = alias_name(self._cluster.name, PAGES)
        status, said = self._cluster.send("GET", f"/{alias},{alias}-*/_mapping?ignore_unavailable=true")
        if status >= 300:
            raise Unavailable(f"the indexes cannot be listed: {status}, {reason(said)}")
        found: dict[int, str] = {}
        for name, one in said.items():
            digest = one["mappings"].get("_meta", {}).get("webcrawler")
            number = re.fullmatch(re.escape(alias) + r"-(\d{6})", name)
            if not digest or not number:
                raise BadInput(f"the index {name} is not of this program: choose another NAME for SINK_URL")
            found[int(number[1])] = digest
        return found

    def _create(self, kind: str, is_searched: bool) -> None:
        path = f"/{self.name(kind)}"
        if self._cluster.send("HEAD", path).status == 200:
            return
        made = mapping.creation(kind, self._cluster.name) if is_searched else mapping.body()
        status, said = self._cluster.send("PUT", path, made)
        if status in PASSING:
            raise Unavailable(f"the index {self.name(kind)} cannot be made now: {reason(said)}")
        if status >= 300 and "exists" not in reason(said):
            raise BadInput(f"the cluster refuses the index {self.name(kind)}: {reason(said)}")

    def searched(self) -> int:
        """The generation that searches see; 0: none."""
        alias = alias_name(self._cluster.name, PAGES)
        said = self._cluster.ask("GET", f"/_alias/{alias}", may_lack=True)
        return max((int(name[-6:]) for name in said), default=0)

    def change_over(self) -> bool:
        """Have searches see the generation that is written, once no folder lacks anything in it."""
        old = self.searched()
        if old == self.generation or not self._is_level(old):
            return False
        self._cluster.ask("POST", f"/{','.join(map(self.name, KINDS))}/_refresh")  # all is seen at once
        self._cluster.ask(
            "POST", "/_aliases", {"actions": [*map(self._remove, KINDS), *map(self._add, KINDS)]}
        )
        return True

    def _is_level(self, old: int) -> bool:
        new = self._state.checkpoints(self.generation)
        return all(
            folder in new and new[folder].seq >= was.seq and new[folder].anchors >= was.anchors
            for folder, was in self._state.checkpoints(old).items()
            if was.at > now() - GONE_SECONDS  # the others are folders that nobody has any more
        )

    def _remove(self, kind: str) -> dict[str, Any]:
        alias = alias_name(self._cluster.name, kind)
        return {"remove": {"index": f"{alias}-*", "alias": alias, "must_exist": False}}

    def _add(self, kind: str) -> dict[str, Any]:
        alias = alias_name(self._cluster.name, kind)
        return {"add": {"index": self.name(kind), "alias": alias, "filter": LIVING}}
