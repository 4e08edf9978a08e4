"""The shape of a path, as _6_repeats.lua has it, by other means."""

from __future__ import annotations

import re

_ENDING = re.compile(r"\.[a-zA-Z][a-zA-Z0-9]{0,3}$")


def shapes_of(path: str) -> tuple[str, str]:
    """Narrow and wide."""
    route, mark, query = path.partition("?")
    parts = route.split("/")  # the first is empty, the last no directory
    top, below = parts[1:-1][:2], parts[1:-1][2:] + parts[-1:]
    head = "".join(f"/{re.sub('[0-9]+', '0', name)}" for name in top) + "/"
    names = (
        [re.sub("[0-9]+", "0", part.partition("=")[0]) for part in re.split("[&;]", query)] if mark else []
    )
    narrow = head + "/".join(map(_class_of, below)) + ("?" if mark else "") + "&".join(sorted(names))
    return narrow[:100], "*" + "/".join(map(_class_of, parts))[:100] + ("?" if mark else "")


def _class_of(segment: str) -> str:
    if not segment:
        return ""
    ending = _ENDING.search(segment, 1)
    name = segment[: ending.start()] if ending else segment
    return ("0" if re.search("[0-9]", name) else "a") + (ending[0] if ending else "")
