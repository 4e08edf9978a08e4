"""Who parses a page safely: a page that is at fault ends its parser, and no other page."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

import webcrawler
from webcrawler.errors import ParserKilled, Unavailable
from webcrawler.parsing import parse
from webcrawler.parsing import pool as parser_pool
from webcrawler.parsing.pool import ParserPool
from webcrawler.records import Page

URL = "http://a.example/"
GOOD = b"<title>t</title><p>text <a href=x>link</a>"
SLOW = b"<b>x" * 2_000_000  # ten seconds of processor time
LARGE = b"<p>" + b"word " * 20_000_000  # 100 MB

needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory limits need /proc")


class Deadly(bytes):
    """A page at which the process that reads it gets a signal: the number in its first byte."""

    def startswith(self, *_: object) -> bool:
        os.kill(os.getpid(), self[0])
        return False


class Silent(bytes):
    """A page at which the process that reads it says nothing any more."""

    def startswith(self, *_: object) -> bool:
        signal.pause()
        return False


@pytest.fixture
def pool() -> Iterator[ParserPool]:
    pool = ParserPool(workers=2, timeout_s=30, memory_mb=256)
    yield pool
    pool.kill()


def reason(future: Future[Page]) -> str:
    with pytest.raises(ParserKilled) as raised:
        future.result(180)
    return str(raised.value)


def test_page_from_a_process_equals_the_page_from_the_function(pool: ParserPool) -> None:
    assert pool.parse(GOOD, URL, "text/html", ("http",)).result(180) == parse(
        GOOD, URL, "text/html", ("http",)
    )


@pytest.mark.slow
@needs_proc
def test_what_large_pages_leave_behind_does_not_count_against_the_next() -> None:
    pool = ParserPool(workers=1, timeout_s=30, memory_mb=80)
    large = b"<title>t</title>" + b"<p>word " * 250_000

    for _ in range(3):  # each wants most of that for itself
        assert pool.parse(large, URL).result(180).title == "t"
    pool.kill()


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The pages that pools give out to workers, each as often as it is."""
    given_out: list[object] = []
    submit = ParserPool._submit
    monkeypatch.setattr(ParserPool, "_submit", lambda pool, job: (given_out.append(job), submit(pool, job)))
    return given_out


@needs_proc
def test_worker_that_has_grown_ends_between_two_pages_so_none_is_given_out_twice(
    submitted: list[object],
) -> None:
    pool = ParserPool(workers=1, timeout_s=30, memory_mb=256)
    # libxml2 keeps every name that it has read: each of these pages leaves 20 MB behind
    pages = [b"<p %s>" % b" ".join(b"a%d-%d" % (page, n) for n in range(80_000)) for page in range(8)]

    workers = set()
    for page in pages:
        pool.parse(page, URL).result(180)
        workers.update(worker.pid for worker in multiprocessing.active_children())
    pool.kill()

    assert len(workers) > 1
    assert len(submitted) == len(pages)


@pytest.mark.slow
def test_page_past_its_deadline_is_killed_and_the_pages_beside_it_are_not() -> None:
    pool = ParserPool(workers=2, timeout_s=2, memory_mb=1024)
    before = [pool.parse(GOOD, URL) for _ in range(20)]
    slow = pool.parse(SLOW, "http://slow.example/")
    after = [pool.parse(GOOD, URL) for _ in range(20)]

    limits = ("in 2 s of processor time", "within 4 s")  # the second where other programs keep it waiting
    assert reason(slow) in [f"http://slow.example/: not parsed {limit}" for limit in limits]
    assert {future.result(180).text for future in before + after} == {"text link"}
    pool.kill()


@needs_proc
def test_page_past_the_memory_limit_is_killed_and_the_pages_beside_it_are_not(pool: ParserPool) -> None:
    before = [pool.parse(GOOD, URL) for _ in range(20)]
    large = pool.parse(LARGE, "http://large.example/")
    after = [pool.parse(GOOD, URL) for _ in range(20)]

    assert reason(large) == "http://large.example/: its parser wanted more than 256 MB"
    assert {future.result(180).text for future in before + after} == {"text link"}


def test_page_that_kills_its_process_is_to_blame_and_the_pages_beside_it_are_not(pool: ParserPool) -> None:
    before = [pool.parse(GOOD, URL) for _ in range(20)]
    deadly = [pool.parse(Deadly([number]), URL) for number in (signal.SIGSEGV, signal.SIGABRT)]
    after = [pool.parse(GOOD, URL) for _ in range(20)]

    assert [reason(future) for future in deadly] == [
        f"{URL}: its parser died (exit status {status})" for status in (-11, -6)
    ]
    assert {future.result(180).text for future in before + after} == {"text link"}


def test_page_whose_worker_stays_silent_is_given_to_another_one_before_it_is_to_blame(
    submitted: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_pool, "_GRACE_S", -59.9)  # before the timers of the worker, which has 60 s
    pool = ParserPool(workers=1, timeout_s=30)

    assert reason(pool.parse(Silent(b"<p>"), URL)) == f"{URL}: not parsed within 60 s (it does not answer)"
    assert len(submitted) == 2
    pool.kill()


@pytest.mark.slow
def test_worker_that_is_stopped_from_outside_is_not_the_page_s_fault(pool: ParserPool) -> None:
    with pytest.raises(Unavailable):
        pool.parse(Deadly([signal.SIGTERM]), URL).result(180)

    assert pool.parse(GOOD, URL).result(180).title == "t"


@pytest.mark.slow
def test_page_whose_worker_the_kernel_ends_each_time_is_to_blame(
    pool: ParserPool, submitted: list[object]
) -> None:
    """Else it would be fetched again and again, without an end."""
    assert reason(pool.parse(Deadly([signal.SIGKILL]), URL)) == f"{URL}: its parser died (exit status -9)"
    assert len(submitted) == 3


def test_pool_survives_the_death_of_idle_workers(pool: ParserPool) -> None:
    pool.parse(GOOD, URL).result(180)

    for worker in multiprocessing.active_children():
        os.kill(worker.pid or 0, signal.SIGKILL)
        worker.join()

    assert [pool.parse(GOOD, URL).result(180).title for _ in range(20)] == ["t"] * 20


def test_close_finishes_the_pages_in_hand() -> None:
    pool = ParserPool(workers=2)
    pages = [pool.parse(GOOD, URL) for _ in range(50)]

    pool.close()

    assert all(future.done() and future.result().title == "t" for future in pages)
    with pytest.raises(Unavailable):
        pool.parse(GOOD, URL).result(180)


def test_kill_ends_the_pages_in_hand() -> None:
    pool = ParserPool(workers=1)
    pages = [pool.parse(SLOW, URL) for _ in range(3)]

    pool.kill()

    for future in pages:
        with pytest.raises(Unavailable):
            future.result(180)


def test_pool_that_was_never_used_ends() -> None:
    ParserPool(workers=1).close()
    ParserPool(workers=1).kill()


# As a program of its own: one without `if __name__ == "__main__"`, as people write them.

PROGRAM = """
import os, signal, sys
sys.path.insert(0, {path!r})
import webcrawler
from webcrawler.parsing.pool import ParserPool
assert webcrawler.__file__.startswith({path!r})
print("started", flush=True)
pool = ParserPool(2)
print(pool.parse({GOOD!r}, "http://a.example/").result(180).text, flush=True)
"""


def start(program: str, folder: Path, path: str = "") -> subprocess.Popen[str]:
    script = folder / "program.py"
    path = path or str(Path(webcrawler.__file__).parent.parent)
    script.write_text(PROGRAM.format(path=path, GOOD=GOOD) + program)
    return subprocess.Popen(
        [sys.executable, script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
def test_workers_do_not_run_the_main_program(tmp_path: Path) -> None:
    output, _ = start("pool.close()", tmp_path).communicate()

    assert output == "started\ntext link\n"


@pytest.mark.slow
def test_workers_come_out_of_a_zipped_egg(tmp_path: Path) -> None:
    package, egg = Path(webcrawler.__file__).parent, tmp_path / "webcrawler.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for file in package.rglob("*.py"):
            archive.write(file, file.relative_to(package.parent))

    show = "import multiprocessing as m; print(len(m.active_children())); pool.close()"
    output, _ = start(show, tmp_path, str(egg)).communicate()

    assert output == "started\ntext link\n2\n"


@pytest.mark.slow
def test_workers_outlive_ctrl_c(tmp_path: Path) -> None:
    interrupt = f"""
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
pages = [pool.parse({GOOD!r}, "http://a.example/") for _ in range(100)]
os.killpg(0, signal.SIGINT)
print(len([page.result(180) for page in pages]))
pool.close()
"""
    output, _ = start(interrupt, tmp_path).communicate()

    assert output == "started\ntext link\ninterrupted\n100\n"


@pytest.mark.slow
def test_workers_end_when_their_owner_is_killed(tmp_path: Path) -> None:
    busy = f"pool.parse(b'<b>x' * 2_000_000, '{URL}'); print('busy', flush=True); signal.pause()"
    owner = start(busy, tmp_path)
    assert owner.stdout is not None
    while owner.stdout.readline() != "busy\n":
        assert owner.poll() is None

    owner.kill()

    owner.communicate()  # ends when the last process that holds the output has ended
