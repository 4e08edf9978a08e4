"""Relevance judgments in CRAWL_DIR/feedback/, as `scrapy judge feedback` reads them (TREC's formats).

`queries.tsv`: QUERYID TAB query. `qrels.txt`: QUERYID 0 URL GRADE, grade 1 good, 0 bad, one line a pair.
`clients.tsv`: QUERYID TAB URL TAB CLIENT, who judged the pair first: a client may add so many.
Each is written aside, synced and put in place in one step: who reads sees the old or the new file.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from webcrawler.web.failures import NotNow, log_fault

GRADES = {"good": 1, "bad": 0}
UNDO = "undo"
MOST = 20_000  # judgments; a file of 2 MB
MOST_OF_CLIENT = 1_000  # of them, so that nobody takes all the room
MAX_QUERY = 400  # characters


class Judgments:
    """Any number of processes may save at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._qrels, self._queries = folder / "qrels.txt", folder / "queries.tsv"
        self._clients = folder / "clients.tsv"
        self._known: tuple[object, dict[str, dict[str, int]]] = None, {}

    def save(self, query: str, url: str, verdict: str, client: str = "") -> None:
        """Durable when it returns; the last verdict on a pair holds, `undo` takes it back.

        Args:
            client: a name without white space; judgments that it adds count for it, also after others changed
                them. "" is nobody, who has no bound of their own.
        Raises:
            NotNow: the disk is full or may not be written, what is there cannot be read (and would be lost),
                or there are as many judgments as there may be, in all or of this client.
        """
        text = one_line(query)
        pair = query_id(text), url.replace(" ", "%20")
        try:
            with self._locked():
                grades, queries, clients = self._read(), self._read_queries(), self._read_clients()
                if verdict == UNDO:
                    grades.pop(pair, None)
                else:
                    if pair not in grades:
                        self._check_room(len(grades), sum(one == client for one in clients.values()), client)
                        clients[pair] = client
                    grades[pair] = GRADES[verdict]
                queries[pair[0]] = text
                judged = {id for id, _ in grades}
                # the judgments last: one of an unknown query would be of no use
                _replace(self._queries, (row for row in queries.items() if row[0] in judged))
                _replace(self._clients, ((*p, one) for p, one in clients.items() if one and p in grades))
                rows = ((id, "0", page, str(grade)) for (id, page), grade in grades.items())
                _replace(self._qrels, rows, between=" ")
        except OSError as error:
            log_fault(f"cannot save a judgment: {error}")
            raise NotNow("the judgment could not be saved: try again later") from error
        except ValueError as error:
            log_fault(f"no judgment is saved until those of {self._folder} can be read: {error}")
            raise NotNow("no judgment is taken now: those that there are cannot be read") from error

    def of(self, query: str) -> dict[str, int]:
        """Grades by URL."""
        return self._by_query().get(query_id(one_line(query)), {})

    def _check_room(self, judgments: int, of_client: int, client: str) -> None:
        if judgments >= MOST:
            raise NotNow("no more judgments are taken: there are enough")
        if client and of_client >= MOST_OF_CLIENT:
            raise NotNow("no more judgments are taken from you: leave room for others")

    def _by_query(self) -> dict[str, dict[str, int]]:
        """All of them, read again when the file was replaced; none where they cannot be read."""
        try:
            found = self._qrels.stat()
            version = found.st_ino, found.st_mtime_ns
            if version != self._known[0]:
                self._known = version, {}
                for (id, url), grade in self._read().items():
                    self._known[1].setdefault(id, {})[url] = grade
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log_fault(f"the judgments of {self._folder} are not shown: {error}")
        return self._known[1]

    def _read(self) -> dict[tuple[str, str], int]:
        rows = _rows(self._qrels, None, 4)
        return {(id, url): int(grade) for id, _, url, grade in rows}

    def _read_queries(self) -> dict[str, str]:
        return {row[0]: row[1] for row in _rows(self._queries, "\t", 2)}

    def _read_clients(self) -> dict[tuple[str, str], str]:
        return {(id, url): client for id, url, client in _rows(self._clients, "\t", 3)}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def one_line(query: str) -> str:
    return " ".join(query.split())[:MAX_QUERY]


def query_id(line: str) -> str:
    """The same on every machine, so that judgments of several can be put together."""
    return sha256(line.casefold().encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _rows(path: Path, between: str | None, columns: int) -> list[list[str]]:
    """Raises ValueError: it is no UTF-8, or a line has another number of columns."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except FileNotFoundError:
        return []
    rows = [line.split(between, columns - 1) for line in lines if line]
    for row in rows:
        if len(row) != columns:
            raise ValueError(f"{path.name}: {columns} columns are wanted, not {' '.join(row)[:60]!r}")
    return rows


def _replace(path: Path, rows: Iterable[tuple[str, ...]], between: str = "\t") -> None:
    aside = path.with_suffix(".new")
    with aside.open("w", encoding="utf-8", errors="replace") as file:
        file.writelines(f"{between.join(row)}\n" for row in rows)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
