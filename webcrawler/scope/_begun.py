"""How the newest crawl of a data folder was begun: `frontier.json`."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from webcrawler.durable import replaced
from webcrawler.errors import BadInput

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
