"""What a data folder keeps beside its pages, each replaced as a whole: its scope, how its crawl was begun."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from webcrawler.durable import replaced
from webcrawler.errors import BadInput
from webcrawler.scope._patterns import Patterns
from webcrawler.urls import server

NAME = "scope.json"
SHOWN = 5  # patterns in a message


@dataclass(frozen=True)
class Scope:
    """What is within the domains, included, not excluded and not removed belongs to the collection.

    All but the domains are canonical patterns.
    """

    include: tuple[str, ...] = ()  # empty: all
    exclude: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()  # hosts and their subdomains; empty: all

    @cached_property
    def _compiled(self) -> tuple[Patterns, Patterns, Patterns]:
        return Patterns(self.include), Patterns(self.exclude), Patterns(self.removed)

    def refusal(self, url: str) -> str:
        """Return why a link to a canonical URL is not followed: "domain", "removed", "scope", or ""."""
        return self.bars(url) if is_in_domains(server(url), self.domains) else "domain"

    def bars(self, url: str) -> str:
        """Return why a canonical URL that waits, or is known, is not fetched: "removed", "scope", or ""."""
        return "removed" if self.has_removed(url) else "scope" if self.is_outside(url) else ""

    def is_outside(self, url: str) -> bool:
        """Tell whether a canonical URL is in no domain, excluded or not included, removed or not."""
        include, exclude, _ = self._compiled
        is_left_out = exclude.match(url) or bool(self.include and not include.match(url))
        return is_left_out or not is_in_domains(server(url), self.domains)

    def has_removed(self, url: str) -> bool:
        return self._compiled[2].match(url)

    @property
    def told(self) -> str:
        """The bounds of crawls, in a few words; "" where there are none."""
        bounds = {"domains": self.domains, "include": self.include, "exclude": self.exclude}
        return ", ".join(f"{name}={_some(patterns)}" for name, patterns in bounds.items() if patterns)

    @cached_property
    def digest(self) -> str:
        """Names this scope; "" that of all URLs."""
        return "" if self == Scope() else sha1(json.dumps(asdict(self)).encode()).hexdigest()

    @cached_property
    def digest_of_removed(self) -> str:
        return sha1("\n".join(self.removed).encode()).hexdigest() if self.removed else ""


def is_in_domains(server: str, domains: tuple[str, ...]) -> bool:
    """Tell whether a server is one of these hosts, or below one of them; without any, each is."""
    host = (urlsplit(server).hostname or "") if domains else ""
    return not domains or any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _some(patterns: tuple[str, ...]) -> str:
    rest = f" and {len(patterns) - SHOWN:,} more" if len(patterns) > SHOWN else ""
    return ",".join(patterns[:SHOWN]) + rest


def read(crawl_dir: Path) -> Scope:
    """Return the scope of a data folder; all URLs belong to one that has none.

    Raises:
        BadInput: the file cannot be read.
    """
    path = crawl_dir / NAME
    try:
        given = json.loads(path.read_bytes())
        return Scope(**{name: tuple(map(str, patterns)) for name, patterns in given.items()})
    except FileNotFoundError:
        return Scope()
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} cannot be read: {error}; put it back from a backup") from error


def change(crawl_dir: Path, become: Callable[[Scope], Scope]) -> Scope:
    """Replace the scope of a data folder by what the function makes of it; durable on return.

    Raises:
        BadInput: as `read`.
    """
    crawl_dir.mkdir(parents=True, exist_ok=True)
    with (crawl_dir / "scope.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = read(crawl_dir)
        after = become(before)
        if after != before:
            with replaced(crawl_dir / NAME) as file:
                file.write(json.dumps(asdict(after), indent=1).encode() + b"\n")
    return after


class Watched:
    """The scope of a data folder, read again whenever its file was replaced; for any thread."""

    def __init__(self, crawl_dir: Path) -> None:
        self._crawl_dir, self._path = crawl_dir, str(crawl_dir / NAME)
        self._known: tuple[tuple[int, int] | None, Scope] = (None, Scope())

    def now(self) -> Scope:
        """Return the scope; the same object while nothing has changed, for some microseconds.

        Raises:
            BadInput: as `read`.
        """
        stamp = None
        try:
            stat = os.stat(self._path)  # noqa: PTH116  (twice as fast as by a Path)
            stamp = stat.st_ino, stat.st_mtime_ns
        except FileNotFoundError:
            pass
        if stamp != self._known[0]:
            self._known = stamp, read(self._crawl_dir)
        return self._known[1]


FILE = "frontier.json"


class Begun(NamedTuple):
    """How the newest crawl of a data folder was begun; kept there until its frontier is cleared."""

    mode: str
    folder: str = ""  # the name by which the frontier knows it

    def keep(self, folder: Path) -> None:
        if read_begun(folder) != self:
            with suppress(FileNotFoundError), replaced(folder / FILE) as file:  # another crawl was faster
                file.write(json.dumps(self._asdict()).encode())


def read_begun(folder: Path) -> Begun | None:
    """None where no crawl has begun since the frontier was cleared.

    Raises:
        BadInput: the file is damaged.
    """
    try:
        found = json.loads((folder / FILE).read_text("utf-8"))
        return Begun(str(found["mode"]), str(found.get("folder", "")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError, AttributeError):
        raise BadInput(f"{folder / FILE} is damaged: delete it") from None
