"""The Lua operations: names, headers and code say the same; who has forgotten them gets them again."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
import redis
from conftest import MakeFrontier
from frontiers import lease_one, links

from webcrawler.frontier import Report
from webcrawler.frontier.slots import source

FOLDER = files("webcrawler.frontier").joinpath("lua")
TEXTS = {file.name: file.read_text("utf-8") for file in FOLDER.iterdir() if file.name.endswith(".lua")}
OPERATIONS = sorted(name for name in TEXTS if not name.startswith("_"))
of_each = pytest.mark.parametrize("name", OPERATIONS)


def header(name: str) -> str:
    """The comment lines at the top."""
    lines = TEXTS[name].splitlines()
    end = next(n for n, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(lines[:end])


def code(name: str) -> str:
    """The operation with what all share, as it is sent."""
    return source(name.removesuffix(".lua").rpartition("-")[0])


def described(name: str, what: str) -> set[int]:
    """The numbers of KEYS or ARGV that a header names."""
    return {int(n) for n in re.findall(rf"{what}\[(\d+)", header(name))}


@of_each
def test_the_header_says_the_name_of_the_file_what_is_returned_and_what_it_costs(name: str) -> None:
    assert header(name).startswith(f"-- {name}: ")
    assert "Returns" in header(name) and "Cost" in header(name)


@of_each
def test_the_number_in_the_name_is_that_of_the_keys_described_and_used(name: str) -> None:
    keys = int(name.removesuffix(".lua").rpartition("-")[2])
    used = {int(n) for n in re.findall(r"KEYS\[(\d+)\]", code(name))}

    assert used == described(name, "KEYS") == set(range(1, keys + 1))


@of_each
def test_the_header_describes_every_argument_used(name: str) -> None:
    """Numbered ones, and with an ellipsis those from which on they come in rows."""
    own = TEXTS[name].removeprefix(header(name))
    used = {int(n) for n in re.findall(r"ARGV\[(\d+)\]", own)}
    rows = {int(n) for n in re.findall(r"for i = (\d+), #ARGV", own)}

    assert used | rows <= described(name, "ARGV") | {int(n) for n in re.findall(r"(\d+)…", header(name))}
    assert max(used | rows, default=0) <= max(described(name, "ARGV"), default=0)


@of_each
def test_every_key_comes_from_the_two_prefixes(name: str) -> None:
    """Else Redis Cluster could not know where it lies."""
    named_keys = re.findall(r"(?:call|bulk)\('[A-Z]+', *([^,)]+)", code(name))
    local = r"BASE \.\.|key\(|queue_of\(|site_of\(|server_of\(|SEEN|PREFIX \.\.|politeness$|site$|key$"

    assert [key for key in named_keys if not re.match(local, key.strip())] == []


@of_each
def test_every_script_loads(client: redis.Redis, name: str) -> None:
    assert len(client.script_load(code(name))) == 40


def test_the_shared_part_says_what_each_key_holds() -> None:
    described = set(re.findall(r"^--   ([a-z]+)(?::\w+)? ", TEXTS["_1_names.lua"], re.MULTILINE))
    beside = re.findall(r"\b([a-z]+) = \d", re.findall(r"BESIDE = \{.*\}", TEXTS["_5_leases.lua"])[0])
    used = {name for text in TEXTS.values() for name in re.findall(r"key\('(\w+):?'", text)}

    elsewhere = {"clock", "server", "marks", "rebuilding", "carried"}
    assert used | {*beside, *elsewhere, "queue", "site", "seen", "ready", "doubtful"} == described


def test_scripts_are_sent_again_to_a_server_that_has_forgotten_them(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.discover(links("http://a.test/"))
    frontier.client.script_flush()

    assert lease_one(frontier).url == "http://a.test/"


def test_a_report_counts_before_the_lease_also_where_the_server_knows_one_script_only(
    make_frontier: MakeFrontier,
) -> None:
    frontier = make_frontier(server_concurrency=1)
    frontier.discover(links("http://a.test/1", "http://a.test/2", "http://b.test/"))
    frontier.client.script_flush()
    lease = lease_one(frontier)  # now it knows `lease`, and not `fetched`

    assert [found.url for found in frontier.lease(1, [Report(lease, 0.0)]).leases] == ["http://a.test/2"]
