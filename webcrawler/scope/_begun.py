"""How the newest crawl of a data folder was begun: `frontier.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from webcrawler.durable import replaced
from webcrawler.errors import BadInput

FILE = "frontier.json"


class Begun(NamedTuple):
    """How the newest crawl of a data folder was begun; kept there until its frontier is cleared."""

    mode: str
    domains: tuple[str, ...] = ()
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
        return Begun(str(found["mode"]), tuple(map(str, found["domains"])), str(found.get("folder", "")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError, AttributeError):
        raise BadInput(f"{folder / FILE} is damaged: delete it") from None


def joint_domains(folders: Iterable[Path]) -> tuple[str, ...]:
    """Return the domains of the newest crawls of several folders together; none where one has no bounds."""
    each = [begun.domains if (begun := read_begun(folder)) else () for folder in folders]
    return tuple(dict.fromkeys(chain.from_iterable(each))) if all(each) else ()


def is_in_domains(server: str, domains: tuple[str, ...]) -> bool:
    """Tell whether a server is one of these hosts, or below one of them; without any, each is."""
    host = urlsplit(server).hostname or ""
    return not domains or any(host == domain or host.endswith(f".{domain}") for domain in domains)
