"""What belongs to a collection? Its owner says so: by domains, by patterns of URLs, and by what was removed.

`Scope` answers for a URL. `read`, `change` and `Watched` keep it in `scope.json` of the data folder, beside
the WARC files, so that whatever builds a catalog or an index obeys it. `expand` reads the patterns of people.
`Begun` keeps how the newest crawl was begun. Both files are replaced as a whole.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from webcrawler import urls
from webcrawler.errors import BadInput, BadUrl
from webcrawler.files import replaced

NAME = "scope.json"
SHOWN = 5  # patterns in a message
BEGUN = "frontier.json"
ALL = "*"
_STAR = "zq7star7qz"  # in place of `*` while a pattern is made canonical: may stand in a host, too


def expand(text: str) -> tuple[str, ...]:
    """Return the canonical patterns that a text means.

    `*` stands for any characters, in the host for any but `/`. Without `*` it is one URL, without a path a
    whole server, without a scheme http and https. What begins with `*`, but for a host (`*.example.org`), is
    compared with the whole URL as it is: `*/print/*`; `*` alone is every URL.

    Raises:
        BadInput: it is no URL, or a `*` stands in a part that canonical URLs lack: a fragment, a session id.
    """
    text = text.strip()
    if text.startswith("*") and not text.startswith("*."):
        return (text,)
    written = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
    return tuple(_canonical(one, text) for one in written)


def _canonical(pattern: str, text: str) -> str:
    marked = pattern.replace("*", _STAR)
    try:
        url = urls.canonical(marked)
        if ";" in urls.server(url):  # which may stand in a host, and is typed in place of a comma
            raise BadUrl(url)
    except BadUrl:
        raise BadInput(f"{text[:200]!r} is not a pattern of URLs: write https://example.org/docs/*") from None
    if url.count(_STAR) != pattern.count("*"):
        raise BadInput(
            f"{text[:200]!r} has a * in a part that is left out of URLs, as fragments and session ids are"
        )
    is_server = not set(marked.partition("://")[2]) & set("/?#")
    return url.replace(_STAR, "*") + ("*" if is_server else "")


class Patterns:
    """Canonical patterns, compiled.

    About 1 µs for a URL among any number of patterns without `*`, or with one at the end. Of the others,
    those with its server or with a `*` in the host are tried one by one: 0.2 µs each.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = tuple(dict.fromkeys(texts))

    def match(self, url: str) -> bool:
        """Tell whether one of the patterns means this canonical URL.

        A pattern in place of the URL is matched only if all its URLs are.
        """
        exact, prefixes, others = self._compiled
        if url in exact:
            return True
        place = bisect_right(
            prefixes, url
        )  # what lies between a prefix and its URL begins with the prefix, too
        if place and url.startswith(prefixes[place - 1]):
            return True
        return bool(others) and any(others[one](url) for one in {"", urls.server(url)} & others.keys())

    @cached_property
    def _compiled(self) -> tuple[set[str], list[str], dict[str, Callable[[str], object]]]:
        exact: set[str] = set()
        prefixes: list[str] = []
        others = defaultdict[str, list[str]](list)
        for text in self.texts:
            if "*" not in text:
                exact.add(text)
            elif text == ALL or "*" not in text[:-1]:
                prefixes.append(text[:-1])
            elif text.startswith("*"):
                others[""].append(_glob(text, ".*"))
            else:
                server = urls.server(text)
                others["" if "*" in server else server].append(_regex(text))
        shortest: list[str] = []  # no prefix of another one is needed beside it
        for prefix in sorted(prefixes):
            if not (shortest and prefix.startswith(shortest[-1])):
                shortest.append(prefix)
        compiled = {server: re.compile("|".join(some), re.DOTALL) for server, some in others.items()}
        return exact, shortest, {server: regex.fullmatch for server, regex in compiled.items()}


def _regex(pattern: str) -> str:
    server = urls.server(pattern)
    return _glob(server, "[^/]*") + _glob(pattern[len(server) :], ".*")


def _glob(pattern: str, star: str) -> str:
    """Each part but the last is taken where it comes first, for good: no URL takes long."""
    first, *rest = map(re.escape, pattern.split("*"))
    return first + "".join(f"(?>{star}?{part})" for part in rest[:-1]) + (star + rest[-1] if rest else "")


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
        return self.bars(url) if is_in_domains(urls.server(url), self.domains) else "domain"

    def bars(self, url: str) -> str:
        """Return why a canonical URL that waits, or is known, is not fetched: "removed", "scope", or ""."""
        return "removed" if self.has_removed(url) else "scope" if self.is_outside(url) else ""

    def is_outside(self, url: str) -> bool:
        """Tell whether a canonical URL is in no domain, excluded or not included, removed or not."""
        include, exclude, _ = self._compiled
        is_left_out = exclude.match(url) or bool(self.include and not include.match(url))
        return is_left_out or not is_in_domains(urls.server(url), self.domains)

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


class Begun(NamedTuple):
    """How the newest crawl of a data folder was begun; kept there until its frontier is cleared."""

    mode: str
    folder: str = ""  # the name by which the frontier knows it

    def keep(self, folder: Path) -> None:
        if read_begun(folder) != self:
            with suppress(FileNotFoundError), replaced(folder / BEGUN) as file:  # another crawl was faster
                file.write(json.dumps(self._asdict()).encode())


def read_begun(folder: Path) -> Begun | None:
    """None where no crawl has begun since the frontier was cleared.

    Raises:
        BadInput: the file is damaged.
    """
    try:
        found = json.loads((folder / BEGUN).read_text("utf-8"))
        return Begun(str(found["mode"]), str(found.get("folder", "")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError, AttributeError):
        raise BadInput(f"{folder / BEGUN} is damaged: delete it") from None
