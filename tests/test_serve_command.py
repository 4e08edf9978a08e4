"""`webcrawler serve` as people start it: a process of its own that answers, refuses and ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from conftest import Run
from localweb import scrapy
from searched import entry, publish

from webcrawler.commands.serve import outgrown

SECONDS = 60  # that nothing here takes


def refused(crawl_dir: Path, *options: str) -> tuple[int, str]:
    """Exit status and what it says."""
    process = scrapy("serve", *options, folder=crawl_dir)
    _, said = process.communicate(timeout=SECONDS)
    return process.returncode, said


@contextmanager
def serving(crawl_dir: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = scrapy("serve", "--port", "0", *options, folder=crawl_dir)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.communicate(timeout=SECONDS)[1]
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, [entry(("http://a.test/1", "Molecular biology", "Genes and proteins"))])
    return folder


@pytest.mark.slow
def test_it_prints_its_address_answers_there_and_ends_well_when_told(crawl_dir: Path) -> None:
    with serving(crawl_dir) as (process, address):
        page = httpx.get(f"{address}/search?q=molecular", timeout=SECONDS)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=SECONDS)

    assert page.status_code == 200 and "http://a.test/1" in page.text
    assert "server" not in page.headers
    assert process.returncode == 0
    assert said == ""


@pytest.mark.slow
def test_idle_and_slow_clients_do_not_keep_it_from_ending(crawl_dir: Path) -> None:
    with serving(crawl_dir) as (process, address):
        host, port = address.removeprefix("http://").split(":")
        idle, slow = (socket.create_connection((host, int(port)), SECONDS) for _ in range(2))
        with idle, slow:
            slow.sendall(b"GET / HT")
            assert httpx.get(address, timeout=SECONDS).status_code == 200
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)  # nobody waits for the slow one

    assert process.returncode == 0


@pytest.mark.slow
def test_folder_without_a_crawl_is_served_all_the_same(tmp_path: Path) -> None:
    with serving(tmp_path / "none") as (_, address):
        assert "Nothing was crawled here yet" in httpx.get(f"{address}/search?q=x", timeout=SECONDS).text


@pytest.mark.slow
def test_serving_for_other_machines_is_told(crawl_dir: Path) -> None:
    with serving(crawl_dir, "--host", "0.0.0.0") as (process, address):
        assert httpx.get(address, timeout=SECONDS).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=SECONDS)

    assert said.count("\n") == 1 and said.startswith("warning: ")


@pytest.mark.slow
def test_port_in_use_is_one_line_and_exit_status_1(crawl_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        status, said = refused(crawl_dir, "--port", str(port))

    assert status == 1 and said.count("\n") == 1 and str(port) in said and "--port" in said


@pytest.mark.parametrize(
    "options",
    [
        ("--port", "eight"),
        ("--port", "65536"),
        ("--port", "-1"),
        ("--port", "٣"),
        ("--host", "no.such.host.invalid"),
        ("somewhere",),
        ("-s", "SERVE_URL=http://["),
        ("-s", "SERVE_URL=search.example.org"),
        ("-s", "SERVE_FEEDBACK=maybe"),
        ("--host", "192.0.2.1"),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_status_2(
    crawl_dir: Path, options: tuple[str, ...], run: Run
) -> None:
    status, _, said = run("serve", *options, folder=crawl_dir)

    assert status == 2, said
    assert said.count("\n") == 1 and said.startswith("error: ")


@pytest.mark.slow
def test_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    status, said = refused(tmp_path / "file")

    assert status == 2 and "CRAWL_DIR" in said


@pytest.mark.parametrize(("documents", "says"), [(0, False), (300_000, False), (300_001, True)])
def test_more_documents_than_one_machine_serves_well_are_said(documents: int, says: bool) -> None:
    found = re.search(r'see "(.+)" in the documentation$', outgrown(documents))

    assert bool(found) is says
    if found:
        how_to = Path(__file__).parents[1] / "docs" / "how-to" / f"{found[1].replace(' ', '-').lower()}.md"
        assert how_to.read_text().startswith(f"# {found[1]}\n")
