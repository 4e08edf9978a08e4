"""Which documents are this folder's to write, and under which epoch.

A folder with a frontier of its own is the home of all that it knows. Folders that share one divide it by
partitions, as their crawls do (`frontier/homes.py`): while a crawl of this folder is alive, the folder claims
those that are its own, and stays their home until another one claims them.
"""

from __future__ import annotations

from webcrawler.connection import RedisError
from webcrawler.errors import Unavailable
from webcrawler.frontier import Frontier, home_of
from webcrawler.opensearch.state import Epochs, State


class Homes:
    """The homes of one collection, as this folder knows them.

    Args:
        folder: its name among the workers of the frontier.
        frontier: that it may share with other folders; None: it has one of its own.
    """

    def __init__(self, state: State, folder: str, frontier: Frontier | None = None) -> None:
        self.state, self.folder, self._frontier = state, folder, frontier
        self._epochs = Epochs(state, folder)
        self._shared = frontier if frontier and len(frontier.partitions) > 1 else None

    def open(self, anew: bool = False) -> None:
        """Learn whose is what, and claim what is ours.

        Args:
            anew: with a new epoch, as the catalog is another one than before.
        """
        self._epochs.learn()
        self.look()
        if self._shared:
            names = [partition.prefix for partition in self._shared.partitions]
            self._epochs.claim([name for name in names if anew and self._epochs.is_home(name)], anew)
        else:
            self._epochs.claim([self._own], anew)

    def look(self) -> None:
        """See who is alive, and claim what is ours since then.

        Raises:
            Unavailable: Redis is away.
        """
        if not self._shared:
            return
        try:
            workers = self._shared.workers()
        except RedisError as error:
            raise Unavailable(f"the frontier does not say who is alive: {error}") from error
        self._epochs.learn()
        if self.folder in {worker.partition("@")[0] for worker in workers}:
            names = [partition.prefix for partition in self._shared.partitions]
            self._epochs.claim([name for name in names if self._has(home_of(name, workers))])

    def _has(self, worker: str) -> bool:
        return worker.partition("@")[0] == self.folder

    @property
    def _own(self) -> str:
        return f"folder:{self.folder}"

    def is_ours(self, server: str) -> bool:
        return self._epochs.is_home(self._partition(server))

    def version(self, server: str, seq: int) -> int:
        """That of a document which holds all changes until this one."""
        return self._epochs.version(self._partition(server), seq)

    def _partition(self, server: str) -> str:
        return self._shared.partitions.of_server(server).prefix if self._shared else self._own
