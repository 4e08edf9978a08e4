"""The parameters of a request, read strictly: what is invalid is refused with one line, never guessed at."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl

from starlette.requests import Request

from webcrawler.errors import BadInput

MAX_FIELDS = 64
MAX_NUMBER = 2**31 - 1  # of a page
MAX_CHARACTERS = 2_000  # of one value; the parser of queries has a limit of its own


class Parameters:
    """The values of a query string or form, by name; unknown names are ignored."""

    def __init__(self, given: bytes | Iterable[tuple[str, str]], longest: int = MAX_CHARACTERS) -> None:
        """Raises BadInput: too many, too long, or with control characters."""
        self._values: dict[str, list[str]] = {}
        for name, value in _pairs(given) if isinstance(given, bytes) else given:
            if len(value) > longest:
                raise BadInput(f"{_shown(name)} is too long: {longest:,} characters at most")
            if "\0" in value:
                raise BadInput(f"{_shown(name)} has a NUL character in it")
            self._values.setdefault(name, []).append(value)

    def many(self, name: str, most: int) -> tuple[str, ...]:
        """All values but empty ones, each once, in their order."""
        values = tuple(dict.fromkeys(value for value in self._values.get(name, []) if value.strip()))
        if len(values) > most:
            raise BadInput(f"{name} is given {len(values)} times: {most} at most")
        return values

    def one(self, name: str, default: str = "") -> str:
        values = self._values.get(name, [default])
        if len(values) > 1:
            raise BadInput(f"{name} is given {len(values)} times: once is enough")
        return values[0]

    def whole(self, name: str, default: int | None, least: int, most: int) -> int:
        """A whole number; without a default it must be given.

        An empty value counts as not given: that is how browsers fill OpenSearch's "{startPage?}".
        """
        text = self.one(name) or ("" if default is None else str(default))
        if not text:
            raise BadInput(f"{name} is missing")
        if not (text.isascii() and text.isdecimal() and len(text) <= 18 and least <= int(text) <= most):
            raise BadInput(f"{name} must be a number from {least:,} to {most:,}, not {_shown(text)}")
        return int(text)

    def yes(self, name: str, default: bool) -> bool:
        text = self.one(name, "1" if default else "0")
        if text not in ("0", "1"):
            raise BadInput(f"{name} must be 0 or 1, not {_shown(text)}")
        return text == "1"


def read(request: Request) -> Parameters:
    return Parameters(request.scope["query_string"])


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    """Bytes may stand as they are; what is no UTF-8 is windows-1252, of a form on an old page."""
    as_bytes = "latin-1"
    try:
        pairs = parse_qsl(
            query_string.decode(as_bytes),
            keep_blank_values=True,
            encoding=as_bytes,
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        raise BadInput(f"too many parameters: {MAX_FIELDS} at most") from None
    return [(_text(name.encode(as_bytes)), _text(value.encode(as_bytes))) for name, value in pairs]


def _text(given: bytes) -> str:
    try:
        return given.decode()
    except UnicodeDecodeError:
        return given.decode("cp1252", "replace")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
