"""Bodies of forms as browsers write them, and as nobody should."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live import HERE
from starlette.requests import Request

from webcrawler.errors import BadInput
from webcrawler.web.live_request import read_form
from webcrawler.web.parameters import MAX_FIELDS


def read_body(content: bytes, kind: str) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": content, "more_body": False}

    headers = [(b"content-type", kind.encode())]
    return asyncio.run(read_form(Request({"type": "http", "method": "POST", "headers": headers}, receive)))


def multipart(fields: dict[str, str], files: dict[str, bytes]) -> tuple[bytes, str]:
    """As httpx writes it: another implementation of the same RFC."""
    sent = httpx.Request("POST", HERE, data=fields, files={k: (f"{k}.html", v) for k, v in files.items()})
    return sent.read(), sent.headers["content-type"]


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.dictionaries(st.sampled_from(["q", "seeds", "strategy"]), texts), st.binary(min_size=1))
def test_form_is_read_as_it_was_written(fields: dict[str, str], file: bytes) -> None:
    form = read_body(*multipart(fields, {"bookmarks": file}))

    assert {name: form.fields.one(name) for name in fields} == fields
    assert form.files == {"bookmarks": file}


@given(
    st.lists(st.sampled_from([b"--x", b"\r\n", b"--", b"\r\n\r\n", b'name="a"', b"Content-", b"\xff", b"a"]))
)
def test_broken_form_is_asked_wrongly(pieces: list[bytes]) -> None:
    with suppress(BadInput):
        read_body(b"".join(pieces), "multipart/form-data; boundary=x")


@pytest.mark.parametrize(
    ("fields", "files"), [({f"f{n}": "" for n in range(MAX_FIELDS + 1)}, ["a"]), ({}, ["a", "b"])]
)
def test_form_with_too_many_fields_or_files_is_asked_wrongly(
    fields: dict[str, str], files: list[str]
) -> None:
    with pytest.raises(BadInput):
        read_body(*multipart(fields, dict.fromkeys(files, b"x")))
