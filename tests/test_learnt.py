"""What an ordering has learnt outlives its process, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path

import msgpack
import numpy as np
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from learning import lease_of, link, seen
from learnt_crawl import MODES, SEED, continued, crawled

from webcrawler.archive import learnt as learnt_module
from webcrawler.archive.kept import pack, unpack
from webcrawler.archive.learnt import Learnt, remember
from webcrawler.errors import BadInput
from webcrawler.orderings import Ordering, Seen, Source, ordering
from webcrawler.orderings.examples import ScoredPage
from webcrawler.orderings.guarded import Guarded
from webcrawler.records import Link, Section, Text

MODE = "adaptive?query=gene"
NEXT = 100  # choices
STEPS = 60
ELSE = "the log is the same for all modes, of which two are killed here in every run"


def modes() -> list[str]:
    try:
        ordering("classifier")
    except BadInput:
        return [mode for mode in MODES if not mode.startswith("classifier")]
    return MODES


def opened(folder: Path, mode: str = MODE) -> Learnt:
    """An ordering that goes on from the file of this folder, if there is one."""
    return Learnt(ordering(mode), mode, folder / "0.msgpack")


def state(learnt: Learnt) -> object:
    return pack(learnt._own)


@cache
def without_a_kill(mode: str, client: redis.Redis) -> list[str]:
    """The choices of a crawl that nothing interrupted; leaves the database empty."""
    client.flushdb()
    order = crawled(client, mode, STEPS + NEXT)
    client.flushdb()
    return order


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["completed", "replanned"])
@pytest.mark.parametrize(
    "mode",
    [
        mode if mode.startswith(("adaptive", "credit")) else pytest.param(mode, marks=pytest.mark.deep(ELSE))
        for mode in modes()
    ],
)
def test_after_a_kill_the_next_choices_are_those_of_a_crawl_that_was_not_killed(
    mode: str, killed: str, client: redis.Redis, tmp_path: Path
) -> None:
    whole = without_a_kill(mode, client)
    address = client.connection_pool.connection_kwargs
    words = [str(address.get("path") or address["port"]), str(address.get("db", 0)), mode, str(tmp_path)]

    script = Path(__file__).with_name("learnt_crawl.py")
    first = subprocess.run(
        [sys.executable, script, *words, str(STEPS), killed], capture_output=True, text=True
    )
    order = first.stdout.split() + continued(client, mode, tmp_path, NEXT)

    assert first.returncode == -signal.SIGKILL, first.stderr
    assert len(order) == STEPS + NEXT
    assert order == whole


@pytest.mark.slow
@pytest.mark.parametrize("mode", modes())
def test_after_an_orderly_end_they_are_the_same_too(mode: str, client: redis.Redis, tmp_path: Path) -> None:
    whole = without_a_kill(mode, client)

    order = continued(client, mode, tmp_path, STEPS) + continued(client, mode, tmp_path, NEXT)

    assert order == whole
    assert not (tmp_path / "learnt/agent1.msgpack").read_bytes().count(b"first_priority")


@pytest.mark.parametrize("mode", ["adaptive?query=gene+cell", "context-graph?query=gene+cell"])
def test_without_the_file_they_would_be_others(mode: str, client: redis.Redis, tmp_path: Path) -> None:
    whole = without_a_kill(mode, client)
    order = continued(client, mode, tmp_path, STEPS)

    order += continued(client, mode, tmp_path / "another", NEXT)

    assert order != whole


@pytest.mark.parametrize("name", ["adaptive", "credit"])
def test_a_link_to_a_page_that_was_decided_adds_no_candidate(name: str) -> None:
    """A process that has just started asks for priorities of links that the one before knew as decided."""
    by, there, back = ordering(f"{name}?query=gene"), link("http://a.test/1", "gene"), link(SEED)
    by.learn([seen(SEED, "gene " * 20, there)])
    by.learn([seen(there.url, "gene " * 20, back)])
    before = pack(by)

    by.first_priority(back, Source(id=there.id))

    assert pack(by) == before


def test_what_was_planned_last_is_planned_again_as_it_may_not_have_been_told(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.learn([seen(SEED, "gene " * 20, link("http://a.test/1", "gene"), link("http://a.test/2"))])
    planned = first.plan()
    assert planned[0]

    again = opened(tmp_path)

    assert again.is_restored
    assert again.plan() == planned
    assert again.plan() == ([], [])


def test_what_a_frontier_was_told_of_a_link_is_known_after_a_kill_right_then(tmp_path: Path) -> None:
    learnt, to = opened(tmp_path), link("http://a.test/1", "gene")
    learnt.learn([seen(SEED, "gene " * 20, to)])
    learnt.first_priority(to, Source(id=1))

    assert state(opened(tmp_path)) == state(learnt)


def test_pages_are_learnt_again_with_all_that_is_known_of_them(tmp_path: Path) -> None:
    page = Text(
        "Genes", "Cells", "", "dna", "gene " * 9, ((0, 4, 6),), "en", ((5, 9),), (Section(0, "a", "Cells"),)
    )
    to = Link("http://a.test/1", 7, "http://A.test/1", "gene", "all of", "", "", "{}", 2.5)
    learnt = opened(tmp_path, "context-graph")
    learnt.first_priority(link(SEED), None)
    learnt.learn([Seen(1, SEED, page, (to,), 0.5)])
    note = learnt.page_note(page, lease_of(SEED))
    learnt.first_priority(to, Source(1, note, 1, 1))
    learnt.plan()

    again = opened(tmp_path, "context-graph")

    assert again.is_restored
    assert state(again) == state(learnt)


def test_a_file_that_cannot_be_read_to_its_end_is_read_up_to_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mode, file = "context-graph?query=gene", tmp_path / "0.msgpack"
    learnt = opened(tmp_path, mode)
    learnt.learn([seen(SEED, "gene")])
    with file.open("ab") as more:
        more.write(msgpack.packb(pack(["learn", [ScoredPage([], [])]])))

    assert state(opened(tmp_path, mode)) == state(learnt)
    assert f"{file} cannot be read to its end" in caplog.text


def test_another_mode_begins_anew(tmp_path: Path) -> None:
    learnt, lock = remember(ordering(MODE), MODE, tmp_path)
    learnt.learn([seen(SEED, "gene")])
    learnt.close()
    lock.close()

    other, _ = remember(ordering("adaptive?query=cell"), "adaptive?query=cell", tmp_path)

    assert learnt.is_restored is other.is_restored is False


def test_crawls_beside_each_other_in_one_folder_have_a_file_each(tmp_path: Path) -> None:
    first, lock = remember(ordering(MODE), MODE, tmp_path)
    second, _ = remember(ordering(MODE), MODE, tmp_path)
    lock.close()
    third, _ = remember(ordering(MODE), MODE, tmp_path)

    assert [one._path.name for one in (first, second, third)] == [
        "agent1.msgpack",
        "agent1-2.msgpack",
        "agent1.msgpack",
    ]


def test_each_agent_goes_on_from_its_own_file_whichever_comes_first(tmp_path: Path) -> None:
    states = {}
    for agent in (1, 2):
        learnt, lock = remember(ordering(MODE), MODE, tmp_path, agent)
        learnt.learn([seen(f"http://a.test/{agent}", f"gene {agent}", link(f"http://b.test/{agent}"))])
        states[agent] = state(learnt)
        learnt.close()
        lock.close()

    again = {agent: remember(ordering(MODE), MODE, tmp_path, agent) for agent in (2, 1)}

    assert states[1] != states[2]
    assert {agent: state(learnt) for agent, (learnt, _) in again.items()} == states


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_call_that_was_cut_off_is_as_if_it_had_not_been_made(cut: int, tmp_path: Path) -> None:
    learnt, file = opened(tmp_path), tmp_path / "0.msgpack"
    learnt.learn([seen(SEED, "gene", link("http://a.test/1"))])
    before = state(learnt)
    learnt.learn([seen("http://a.test/1", "gene " * 100, link("http://a.test/2"))])
    file.write_bytes(file.read_bytes()[:-cut])

    assert state(opened(tmp_path)) == before


def test_a_damaged_file_is_made_anew_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "0.msgpack"
    file.write_bytes(msgpack.packb([1, MODE, pack([1, 2]), pack([[], []])]))

    assert not opened(tmp_path).is_restored
    assert f"{file} cannot be read" in caplog.text
    assert opened(tmp_path).is_restored


def test_without_room_on_the_disk_the_crawl_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    learnt = opened(tmp_path)
    with Path("/dev/full").open("ab") as full:
        learnt._file = full
        learnt.learn([seen(SEED, "gene " * 10_000, link("http://a.test/1"))])
        with suppress(OSError):
            full.close()

    assert learnt.plan()[0]
    assert "cannot keep what was learnt" in caplog.text
    assert not (tmp_path / "0.msgpack").exists()


def test_after_many_calls_the_file_is_replaced_by_what_was_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learnt_module, "CALLS_MAX", 1_000)
    mode = "context-graph?query=gene"
    learnt, sizes = opened(tmp_path, mode), []
    for n in range(60):
        learnt.learn([seen(SEED, f"gene {n} " * 200)])
        learnt.plan()
        sizes.append((tmp_path / "0.msgpack").stat().st_size)

    assert any(after < before for before, after in pairwise(sizes))
    assert state(opened(tmp_path, mode)) == state(learnt)


# ---- values


ids = st.integers(-(2**63), 2**63 - 1)
plain = st.one_of(st.none(), st.booleans(), ids, st.floats(allow_nan=False), st.text())
keys = st.one_of(ids, st.text(), st.tuples(st.text(), st.text()))
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner),
        st.dictionaries(keys, inner),
        st.lists(inner).map(tuple),
        st.sets(ids),
        st.dictionaries(st.text(), st.integers(1, 9)).map(Counter),
        st.builds(ScoredPage, inner, st.just([link(SEED, "gene")])),
    ),
    max_leaves=20,
)


@given(values)
def test_what_was_packed_is_unpacked_with_its_kinds(value: object) -> None:
    found = unpack(pack(value), {"ScoredPage": ScoredPage})

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.bool_])
def test_arrays_keep_their_shape_and_kind_and_can_be_written_to(kind: type) -> None:
    array = np.ones((3, 2), kind)

    found = unpack(pack({"a": array}), {})["a"]

    found[0] = 0
    assert (found.shape, found.dtype) == (array.shape, array.dtype)
    assert found.sum() == 4


def test_a_value_that_cannot_be_kept_is_an_error_of_the_program() -> None:
    with pytest.raises(TypeError, match="a value of object cannot be kept"):
        pack({"a": object()})


def test_a_record_that_is_not_named_is_not_made() -> None:
    with pytest.raises(KeyError):
        unpack(pack(ScoredPage([], [])), {})


class Own(Ordering):
    """Of a user: it learns the servers of pages that were there."""

    learns = True
    kept = ("servers",)

    def __init__(self) -> None:
        self.servers: dict[str, int] = {}

    def learn(self, seen: Sequence[Seen]) -> None:
        for one in seen:
            self.servers[one.url.split("/")[2]] = 1


def test_an_ordering_of_a_users_own_is_kept_by_the_attributes_that_it_names(tmp_path: Path) -> None:
    learnt = Learnt(Guarded(Own(), "own"), "own", tmp_path / "0.msgpack")
    learnt.learn([seen("http://a.test/1", "gene")])
    own = Own()

    Learnt(Guarded(own, "own"), "own", tmp_path / "0.msgpack")

    assert own.servers == {"a.test": 1}
