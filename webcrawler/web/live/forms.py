"""Bodies of forms: fields, and files where one is sent (RFC 7578)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from starlette.requests import Request

from webcrawler.errors import BadInput
from webcrawler.web.parameters import MAX_FIELDS, Parameters

MAX_CHARACTERS = 100_000  # of a field: a list of addresses
_BOUNDARY = re.compile(
    r'multipart/form-data;\s*boundary="?([A-Za-z0-9\'()+_,./:=? -]{1,70})"?', re.IGNORECASE
)
_NAME = re.compile(r'(?i)\bname="([^"]*)"')
_FILE = re.compile(r"(?i)\bfilename\*?=")
BROKEN = "this form cannot be read: send it once more"


class Form(NamedTuple):
    fields: Parameters
    files: dict[str, bytes]  # by field; those that nobody chose are not there


async def read_form(request: Request) -> Form:
    """Raises BadInput: it is broken, no UTF-8, or has too many fields."""
    body = await request.body()
    boundary = _BOUNDARY.match(request.headers.get("content-type", ""))
    if boundary is None:
        return Form(Parameters(body), {})
    fields: list[tuple[str, str]] = []
    files: dict[str, bytes] = {}
    for name, is_file, content in _parts(body, boundary[1].rstrip().encode()):
        if not is_file:
            fields.append((name, _text(content)))
        elif content:
            files[name] = content
    return Form(Parameters(fields, MAX_CHARACTERS), files)


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[str, bool, bytes]]:
    """(name, whether it is a file, content)"""
    first, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary, MAX_FIELDS + 2)
    if first.strip() or not parts or not parts[-1].startswith(b"--"):
        raise BadInput(BROKEN)
    for part in parts[:-1]:
        head, between, content = part.partition(b"\r\n\r\n")
        told = _text(head)
        name = _NAME.search(_FILE.split(told)[0])
        if not between or name is None:
            raise BadInput(BROKEN)
        yield unquote(name[1]), _FILE.search(told) is not None, content


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeError:
        raise BadInput("the form is no UTF-8") from None
