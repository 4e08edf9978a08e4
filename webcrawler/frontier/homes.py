"""Which worker a partition belongs to: its servers' connections, addresses and robots.txt are known there.

Rendezvous hashing (Thaler and Ravishankar 1998): when a worker goes or comes, only the partitions that it had
or gets move. Data folders are chosen first, each by the number of its workers (Schindelhauer and Schomaker
2005), so that the pages of a domain stay in one folder while its workers are started anew.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from hashlib import blake2b
from math import log
from pathlib import Path


class Homes:
    """The partitions of one worker, as of when it last heard who is alive; until then, all are everybody's.

    Args:
        partitions: all of them, by prefix; one alone belongs to nobody.
    """

    def __init__(self, partitions: Iterable[str], worker: str) -> None:
        self._partitions, self._worker = list(partitions), worker
        self._foreign: frozenset[str] = frozenset()
        self.are_known = False

    def learn(self, workers: Iterable[str]) -> bool:
        """These are alive, and this worker, named or not; returns whether anything has moved."""
        before = self.are_known, self._foreign
        known = {*workers, self._worker}
        if len(self._partitions) > 1:
            self.are_known = len(known) > 1
            self._foreign = frozenset(p for p in self._partitions if home_of(p, known) != self._worker)
        return (self.are_known, self._foreign) != before

    def is_foreign(self, partition: str) -> bool:
        """Does it belong to another worker?"""
        return partition in self._foreign


def home_of(partition: str, workers: Iterable[str]) -> str:
    """The worker, of those named FOLDER@…, that a partition belongs to; others are a folder of their own."""
    by_folder: dict[str, list[str]] = {}
    for worker in workers:
        by_folder.setdefault(worker.partition("@")[0], []).append(worker)
    folder = max(by_folder, key=lambda name: len(by_folder[name]) / -log(_draw(partition, name)))
    return max(by_folder[folder], key=lambda name: _draw(partition, name))


def folder_name(folder: Path) -> str:
    """The FOLDER of its workers' names: that of a data folder on this machine."""
    place = f"{socket.gethostname()}:{folder.absolute()}"
    return blake2b(os.fsencode(place), digest_size=4).hexdigest()


def _draw(partition: str, name: str) -> float:
    """A number between 0 and 1, always the same for the two."""
    digest = blake2b(f"{partition} {name}".encode(), digest_size=6).digest()
    return (int.from_bytes(digest) + 0.5) / 2**48
