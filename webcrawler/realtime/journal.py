"""What a real-time search has found so far, in a small file that any process may read; and how to end it.

In CRAWL_DIR/realtime: JOB.json is replaced as a whole; JOB.lock is held as long as the run lives; JOB.stop
ends it within a second; JOB.asked has the words of the command line, by which a run
that was killed is resumed.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from webcrawler import clock
from webcrawler.background import is_held, is_resumable, search_lock, try_lock
from webcrawler.errors import BadInput

logger = logging.getLogger(__name__)

CHANGED = object()  # Scrapy's signal, with `journal`, on the event loop
LOCK_TRIES = 10  # a process that tests whether a run is alive holds its lock for a moment
KEEP = ("similar", "yes", "no")  # which finds stay in the index: the similar ones (the default), all, none
STATES = ("running", "finished")
REASONS = ("enough", "max_pages", "max_time", "nothing_left", "stopped", "failed")
KEPT = 100  # journals of runs that are over
LEFT_OVER_SECONDS = 86_400.0  # after which files of no journal are removed
SUFFIXES = ("json", "log", "lock", "stop", "asked", "new", "seeds", "examples")  # of the files of a run
_NAME = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,100}")


class Via(TypedDict):
    """The link that led to a page."""

    url: str
    title: str
    anchor: str


class Found(TypedDict):
    rank: int
    relevance: int  # 1000 for the best, the others in proportion
    title: str
    url: str
    server: str
    snippet: str
    number: int  # page number
    similarity: float  # to what was asked, 0 to 1
    source: str  # "index": was there before; "web": this search found it
    via: Via | None
    kept: bool  # does it stay in the index? While the search runs: as far as is known


class Journal(TypedDict):
    """What programs read, too: `webcrawler crawl realtime --json`, and `webcrawler serve`."""

    job: str
    agent: str  # the process that runs it, HOST-PID; "": not known
    query: str
    strategy: str
    state: str  # one of STATES
    reason: str  # why it ended: one of REASONS, or ""
    started: float
    updated: float
    seconds: float
    fetched: int  # documents of this run
    similar: int  # those of them that are similar enough
    enough: int  # of which so many end it; 0: any number
    waiting: int  # URLs
    note: str
    keep: str  # one of KEEP
    kept: int  # documents of this run that stay in the index; 0 before the end
    hits: list[Found]


class Asked(NamedTuple):
    words: dict[str, str]  # of the command line, without the name
    mode: str = ""  # with the words that the thesaurus added; "": it has not begun


def new_job() -> str:
    return secrets.token_hex(8)


def check_name(job: str) -> str:
    """Raises BadInput for what cannot be part of a file's name everywhere."""
    if not _NAME.fullmatch(job):
        raise BadInput(f"job={job[:100]} is not valid: letters, digits, - and _")
    return job


def read(crawl_dir: Path, job: str) -> Journal | None:
    """The journal of a run, None where there is none; that of a run whose process died says "failed"."""
    found = _read(crawl_dir, job)
    if found and found["state"] == "running" and not is_alive(crawl_dir, job):
        found = _read(crawl_dir, job) or found  # it may have ended just now
        if found["state"] == "running":
            found["state"], found["reason"] = "finished", "failed"
    return found


def killed(crawl_dir: Path, job: str) -> Journal | None:
    """The journal of a run that was killed and can be resumed."""
    if is_alive(crawl_dir, job) or not is_resumable(crawl_dir, job):
        return None
    found = _read(crawl_dir, job)
    return found if found and found["state"] == "running" else None


def asked(crawl_dir: Path, job: str) -> Asked:
    """What a run was asked for; nothing where that is not known."""
    try:
        return Asked(**json.loads(_path(crawl_dir, job, "asked").read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return Asked({})


def keep_asked(crawl_dir: Path, job: str, asked: Asked) -> None:
    """Keeps what was asked for; addresses of searches are nobody else's business."""
    path = _path(crawl_dir, job, "asked")
    path.touch(mode=0o600)
    path.write_text(json.dumps(asked._asdict(), ensure_ascii=False), "utf-8")


def jobs(crawl_dir: Path) -> list[Journal]:
    """All journals, the newest first."""
    names = (path.stem for path in (crawl_dir / "realtime").glob("*.json"))
    found = (read(crawl_dir, name) for name in names if _NAME.fullmatch(name))
    return sorted((one for one in found if one), key=lambda one: -one["started"])


def stop(crawl_dir: Path, job: str) -> None:
    """Ends a run, also one that is about to start; what it found is kept."""
    path = _path(crawl_dir, job, "stop")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def give_up(crawl_dir: Path, job: str) -> None:
    """Makes a run that was killed one that is over: its finds leave with the next crawl or search."""
    search_lock(crawl_dir, check_name(job)).unlink(missing_ok=True)


def is_alive(crawl_dir: Path, job: str) -> bool:
    return is_held(search_lock(crawl_dir, check_name(job)))


def discard(crawl_dir: Path, is_meant: Callable[[str], bool]) -> None:
    """Deletes the journals of runs that have ended and have found such a URL: they quote it."""
    for one in jobs(crawl_dir):
        if one["state"] == "finished" and any(is_meant(hit["url"]) for hit in one["hits"]):
            _path(crawl_dir, one["job"], "json").unlink(missing_ok=True)


class Writer:
    """Writes the journal of a run, and holds its lock.

    Raises:
        BadInput: another run has this name.
    """

    def __init__(self, crawl_dir: Path, job: str) -> None:
        self._crawl_dir, self._job = crawl_dir, check_name(job)
        (crawl_dir / "realtime").mkdir(parents=True, exist_ok=True)
        for _ in range(LOCK_TRIES):
            if lock := try_lock(search_lock(crawl_dir, job)):
                break
            time.sleep(0.01)
        else:
            raise BadInput(f"a search with job={job} is going on: choose another name")
        self._lock = lock
        stop = _path(crawl_dir, job, "stop")
        with suppress(FileNotFoundError):
            # One that is older than the last journal was for an earlier run.
            if stop.stat().st_mtime_ns <= _path(crawl_dir, job, "json").stat().st_mtime_ns:
                stop.unlink()

    def write(self, journal: Journal) -> None:
        """Replaces the journal; on a full disk the search goes on without."""
        with suppress(OSError):
            os.utime(search_lock(self._crawl_dir, self._job))  # since when it is dead, if it is killed now
        aside = _path(self._crawl_dir, self._job, "new")
        try:
            aside.write_text(json.dumps(journal, ensure_ascii=False), "utf-8")
            aside.replace(_path(self._crawl_dir, self._job, "json"))
        except OSError as error:
            logger.warning("cannot write the journal of %s: %s", self._job, error)

    def is_stopped(self) -> bool:
        return _path(self._crawl_dir, self._job, "stop").exists()

    def close(self) -> None:
        """Releases the lock, and removes the oldest runs."""
        for suffix in ("lock", "stop"):
            _path(self._crawl_dir, self._job, suffix).unlink(missing_ok=True)
        self._lock.close()
        _tidy(self._crawl_dir)


def _tidy(crawl_dir: Path) -> None:
    """Removes the oldest runs, and files of runs that were killed or ended before they had a journal."""
    over = [one["job"] for one in jobs(crawl_dir) if one["state"] == "finished"]
    for old in over[KEPT:]:
        for suffix in SUFFIXES:
            _path(crawl_dir, old, suffix).unlink(missing_ok=True)
    for path in (crawl_dir / "realtime").iterdir():
        has_journal = path.with_suffix(".json").exists() or is_held(path.with_suffix(".lock"))
        is_left_over = path.suffix.lstrip(".") in SUFFIXES and not has_journal
        with suppress(OSError):  # others tidy up, too
            if is_left_over and clock.age(path.stat()) > LEFT_OVER_SECONDS:
                path.unlink()


def _read(crawl_dir: Path, job: str) -> Journal | None:
    try:
        found = json.loads(_path(crawl_dir, job, "json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    is_one = isinstance(found, dict) and found.keys() >= Journal.__annotations__.keys()
    return cast(Journal, found) if is_one else None


def _path(crawl_dir: Path, job: str, suffix: str) -> Path:
    return crawl_dir / "realtime" / f"{check_name(job)}.{suffix}"
