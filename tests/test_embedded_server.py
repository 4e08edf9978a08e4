"""The server of a data folder, whatever the folder is called, and one that does not begin to listen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from waiting import until

from webcrawler.connection import connect, server
from webcrawler.errors import Unavailable

NAMES = ["[x]*{}?", "new\nline", "co:lon", "quo\"te's", "#%", 'a "b" \\c ü', " blank ", os.fsdecode(b"\xff")]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_folder_of_any_name_has_a_server_that_no_port_leads_to(tmp_path: Path, name: str) -> None:
    """Redis takes the path of its configuration for a pattern, and its defaults are open to all."""
    (tmp_path / name).mkdir()
    with connect(None, tmp_path / name) as connection:
        assert connection.client.config_get("port") == {"port": "0"}
        connection.client.set("word", "gene")

    with connect(None, tmp_path / name) as connection:
        assert connection.client.get("word") == b"gene"


def test_server_that_does_not_listen_is_ended_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = tmp_path / "deaf"
    deaf.write_text('#!/bin/sh\n[ "$1" = --version ] || exec sleep 1000\n')
    deaf.chmod(0o755)
    monkeypatch.setattr(server, "STARTING_SECONDS", 0.0)
    never = server.Server(tmp_path, tmp_path / "redis.sock", "no", lambda: [deaf])

    with pytest.raises(Unavailable, match="does not listen"):
        never.start()

    until(lambda: not never.is_running(), "its end")
