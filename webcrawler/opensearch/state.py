"""What folders tell each other in NAME-state: how far each has come, and whose word counts for a domain.

Each document is changed only as it was read (`if_seq_no`), so of two that change it at once one reads again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from webcrawler import clock
from webcrawler.errors import Unavailable
from webcrawler.opensearch.client import PASSING, Cluster, reason
from webcrawler.opensearch.mapping import STATE, alias_name, state_body

EPOCHS = "epochs"
SEQ_BITS = 44  # of a version, below those of the epoch
TRIES, LONGEST_PAUSE = 20, 1.0
Said = dict[str, Any]


class Checkpoint(NamedTuple):
    """How much of its catalog a folder has written into the indexes of one generation."""

    identity: str = ""  # of the catalog
    term: int = 1  # how often it has begun anew
    seq: int = 0  # the last change
    anchors: int = 0  # the last change whose anchor texts are there
    ranks: int = 0  # the change up to which the ranks are known that are there
    elsewhere: int = 0  # the last of what other folders say that is there
    swept: int = 0  # the term for which what it wrote before was taken out
    purged: float = 0.0  # when old tombstones were taken out last
    at: float = 0.0


class State:
    """The documents of NAME-state; makes the index where it is missing."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._index = cluster, alias_name(cluster.name, STATE)

    def create(self) -> None:
        status, said = self._cluster.send("HEAD", f"/{self._index}")
        if status == 404:
            status, said = self._cluster.send("PUT", f"/{self._index}", state_body())
            if status >= 300 and "exists" not in reason(said):
                raise Unavailable(f"{self._index} cannot be made: {reason(said)}")

    def change(self, id: str, to: Callable[[Said], Said]) -> Said:
        """Change a document to what `to` makes of it; returns that. What stays the same is not written.

        Raises:
            Unavailable: others change it all the time, or the cluster is busy or away.
        """
        for _ in range(TRIES):
            found = self._cluster.ask("GET", f"/{self._index}/_doc/{id}", may_lack=True)
            before: Said = found["_source"]["said"] if found else {}
            if (after := to(before)) == before:
                return after
            asked = "op_type=create"
            if found:
                asked = f"if_seq_no={found['_seq_no']}&if_primary_term={found['_primary_term']}"
            status, told = self._cluster.send("PUT", f"/{self._index}/_doc/{id}?{asked}", {"said": after})
            if status < 300:
                return after
            why = f"{status}, {reason(told)}"
            if status not in (409, *PASSING):
                break
            time.sleep(clock.draws.uniform(0, LONGEST_PAUSE))
        raise Unavailable(f"{self._index} cannot be written: {why}")

    def checkpoint(self, folder: str, generation: int) -> Checkpoint:
        return Checkpoint(**self.change(f"{folder}-{generation:06}", lambda said: said))

    def keep(self, folder: str, generation: int, checkpoint: Checkpoint) -> None:
        self.change(f"{folder}-{generation:06}", lambda _: checkpoint._asdict())

    def checkpoints(self, generation: int) -> dict[str, Checkpoint]:
        """Those of all folders, by name."""
        self._cluster.ask("POST", f"/{self._index}/_refresh")
        found = self._cluster.ask("POST", f"/{self._index}/_search", {"size": 10_000})["hits"]["hits"]
        end = f"-{generation:06}"
        return {
            one["_id"].removesuffix(end): Checkpoint(**one["_source"]["said"])
            for one in found
            if one["_id"].endswith(end)
        }


class Epochs:
    """Whose word counts: a document's version is (epoch, seq), and the newest home has the highest epoch.

    A folder that was the home of a partition, and is no more, still writes what it has fetched: it conflicts
    with all that the new home has written, and fills only what that does not know.
    """

    def __init__(self, state: State, folder: str) -> None:
        self._state, self._folder = state, folder
        self._known: dict[str, dict[str, int]] = {}  # by partition and folder

    def claim(self, partitions: Collection[str], anew: bool = False) -> None:
        """This folder is their home from now on.

        Args:
            anew: raise the epoch also where it was before, as its catalog is another one.
        """
        if anew or not all(map(self.is_home, partitions)):
            self._known = self._state.change(EPOCHS, lambda known: self._claimed(known, partitions, anew))

    def learn(self) -> None:
        """Learn what other folders have claimed."""
        self._known = self._state.change(EPOCHS, lambda known: known)

    def is_home(self, partition: str) -> bool:
        of = self._known.get(partition, {})
        return self._folder in of and of[self._folder] == max(of.values())

    def version(self, partition: str, seq: int) -> int:
        return self._known.get(partition, {}).get(self._folder, 0) << SEQ_BITS | seq

    def _claimed(self, known: Said, partitions: Collection[str], anew: bool) -> Said:
        self._known = known
        new = {
            one: {**known.get(one, {}), self._folder: 1 + max(known.get(one, {}).values(), default=0)}
            for one in partitions
            if anew or not self.is_home(one)
        }
        return {**known, **new}
