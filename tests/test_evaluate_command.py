"""`webcrawler evaluate`: what people type, see, and are told; what programs read."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import testdata
from conftest import Run
from crawled import crawled, fetched, link
from localweb import PROJECT
from waiting import until

pytestmark = pytest.mark.slow

GRAPH = "6\n1 2 3\n4\n4 5\n0\n3\n0\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    file = tmp_path / "small.graph-txt"
    file.write_text(GRAPH)
    return file


@pytest.fixture
def run(run: Run) -> Run:
    """The command in this process, in the project folder."""
    return lambda *arguments: run("evaluate", *map(str, arguments))


def test_a_table_has_a_row_for_each_ordering(run: Run, graph: Path) -> None:
    answer = run(graph, "--orderings", "fifo,backlink,random", "--seeds", "2", "--hot", "ib:2,ib:99")

    assert answer.status == 0, answer.err
    assert "From 0: 6 of 6 pages can be reached. Hot pages: ib:2 3; ib:99 0." in answer.out
    (area,) = re.findall(r"area under P_ST, %.*?\n\n", answer.out, re.DOTALL)
    assert [line.split()[0] for line in area.strip().splitlines()[1:]] == ["fifo", "backlink", "random"]
    assert re.search(r"^random +0 +\d+\.\d \[\d+\.\d, \d+\.\d\] +–$", area, re.MULTILINE)
    (differences,) = re.findall(r"compared with fifo.*?\n\n", answer.out, re.DOTALL)[:1]
    assert re.search(r"^backlink +0 +[+-]\d+\.\d +–$", differences, re.MULTILINE)  # no chance: as it is
    assert re.search(
        r"^random +0 +too few trials \[[+-]\d+\.\d, [+-]\d+\.\d\] +–$", differences, re.MULTILINE
    )
    assert "hot pages found at 5 % crawled" in answer.out


def test_programs_read_the_figures(run: Run, graph: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"

    answer = run(
        graph, "--orderings", "fifo,blend", "--start", "0,3", "--seeds", "1,2",
        "--hot", "ib:2,ir:20%", "--buffer", "0.5", "--json", file,
    )  # fmt: skip

    assert answer.status == 0, answer.err
    found = json.loads(file.read_text())
    assert found["graph"] == {"pages": 6, "links": 9}
    named = {(one["measure"], one["of"], one["ordering"], one["start"]): one for one in found["compared"]}
    blend = named["auc", "ib:2", "blend", 0]
    assert blend["mean"]["trials"] == 2
    assert blend["difference"]["low"] <= blend["difference"]["value"] <= blend["difference"]["high"]
    assert [(one["ordering"], one["start"], one["seed"]) for one in found["runs"]] == [
        ("fifo", 0, None), ("blend", 0, 1), ("blend", 0, 2),
        ("fifo", 3, None), ("blend", 3, 1), ("blend", 3, 2),
    ]  # fmt: skip
    for one in found["runs"]:
        assert one["seconds"] > 0
        assert set(one["auc"]) == set(one["p_st"]) == {"ib:2", "ir:20%"}
        assert set(one["p_cs"]) == {"ib", "ir"}
        assert set(one["p_bc"]) == {"ib:2", "ir:20%", "ib", "ir"}
        assert all(len(curve) == 101 for curve in (*one["p_st"].values(), *one["p_cs"].values()))
        assert one["p_st"]["ib:2"][0] == 0
        assert one["p_st"]["ib:2"][100] == 100
    # Hot are 0, 3 and 4; fifo from 0 visits 0 1 2 3 4 5.
    assert found["runs"][0]["auc"]["ib:2"] == pytest.approx(100 * (1 + 1 + 1 + 2 + 3 + 3) / 18, abs=0.001)
    assert len(re.findall(r"(?m)^blend +all ", answer.out)) == 6  # means, differences


def test_a_crawl_may_stop_early(run: Run, graph: Path, tmp_path: Path) -> None:
    answer = run(
        graph, "--orderings", "fifo", "--max-pages", "3", "--hot", "ib:2", "--json", tmp_path / "f.json"
    )

    assert answer.status == 0, answer.err
    (one,) = json.loads((tmp_path / "f.json").read_text())["runs"]
    assert (one["pages"], one["visits"]) == (6, 3)
    assert one["p_st"]["ib:2"][100] is None


def test_plots_are_svg_files(run: Run, graph: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")

    answer = run(graph, "--orderings", "fifo,random", "--hot", "ib:2,ir:20%,ib:99", "--plots", tmp_path / "p")

    assert answer.status == 0, answer.err
    drawn = sorted(file.name for file in (tmp_path / "p").iterdir())
    assert drawn == ["backlinks.svg", "p_cs-ib.svg", "p_cs-ir.svg", "p_st-ib-2.svg", "p_st-ir-20pct.svg"]
    for file in (tmp_path / "p").iterdir():
        assert str(file) in answer.out
        assert file.stat().st_size < 60_000
    words = "".join(xml.parse(tmp_path / "p" / "p_st-ib-2.svg").getroot().itertext())
    for word in ("fifo", "random", "ideal", "at random", "% of pages crawled", "% of hot pages found"):
        assert word in words


def test_names_are_drawn_as_they_are_into_files_with_plain_names(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class of one's own may be called $a; hot pages by topic; starts whose long URLs differ at the end."""
    pytest.importorskip("matplotlib")
    (tmp_path / "mine.py").write_text(
        "from webcrawler.frontier import Ordering\nclass A(Ordering): pass\nglobals()['$a_$b{'] = A\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    urls = [f"http://a.test/{'long/' * 30}{n}" for n in range(3)]
    crawled(tmp_path / "web", *(fetched(url, *map(link, urls), title="Biology") for url in urls))

    answer = run(
        tmp_path / "web", "--orderings", "mine.$a_$b{,fifo", "--hot", "is:biology+ib:1",
        "--start", f"{urls[0]},{urls[1]}", "--plots", tmp_path / "p",
    )  # fmt: skip

    assert answer.status == 0, answer.err
    drawn = sorted(file.name for file in (tmp_path / "p").iterdir())
    assert len(drawn) == 5  # P_ST and P_CS from two starts, the histogram
    assert all(re.fullmatch(r"[a-z0-9_.-]+\.svg", name) for name in drawn), drawn
    words = "".join(xml.parse(tmp_path / "p" / drawn[-1]).getroot().itertext())
    assert "mine.$a_$b{" in words
    assert "is:biology+ib:1" in words


def test_an_ordering_of_ones_own_is_found_in_the_working_folder(tmp_path: Path, graph: Path) -> None:
    """It is no project folder: the settings are named in the environment."""
    (tmp_path / "mine.py").write_text(
        "from webcrawler.frontier import Ordering\nclass Mine(Ordering): pass\n"
    )
    command = ["evaluate", graph.name, "--orderings", "mine.Mine,fifo", "--hot", "ib:2", "--json", "f.json"]

    done = subprocess.run(
        [Path(sys.executable).with_name("scrapy"), *command],
        cwd=tmp_path,
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "webcrawler.settings"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"(?m)^mine\.Mine +0 ", done.stdout)
    assert json.loads((tmp_path / "f.json").read_text())["runs"]


def test_without_matplotlib_plots_are_refused_at_once(
    run: Run, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    answer = run(graph, "--plots", tmp_path / "p")

    assert answer == (2, "", 'error: --plots needs matplotlib: pip install "scrapy-webcrawler[plots]"\n')


def test_an_old_file_of_figures_stays_until_there_are_new_ones(run: Run, graph: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    file.write_text("old")

    assert run(graph, "--json", file, "--start", "17").status == 2
    assert file.read_text() == "old"
    assert run(graph, "--json", file, "--orderings", "fifo").status == 0
    assert json.loads(file.read_text())["runs"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["figures.json", graph.name]


def test_figures_may_go_to_a_device(run: Run, graph: Path) -> None:
    assert run(graph, "--json", "/dev/null", "--orderings", "fifo").status == 0


def test_tables_are_shown_when_a_file_cannot_be_written_after_all(
    run: Run, graph: Path, tmp_path: Path
) -> None:
    (tmp_path / "f.json.part").mkdir()

    answer = run(graph, "--json", tmp_path / "f.json", "--orderings", "fifo")

    assert answer.status == 2
    assert "area under P_ST" in answer.out
    assert answer.err == f"error: cannot write to {tmp_path / 'f.json'}: Is a directory\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("option", ["--json", "--plots"])
def test_a_folder_without_rights_is_noticed_before_the_crawls(
    run: Run, graph: Path, tmp_path: Path, option: str
) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    target = tmp_path / "closed" if option == "--plots" else tmp_path / "closed" / "f.json"

    answer = run(graph, option, target)

    assert answer == (2, "", f"error: cannot write to {tmp_path / 'closed'}: Permission denied\n")


BAD = [
    ((), "name one graph"),
    (("no/such/graph",), "there is no graph at no/such/graph"),
    (("GRAPH", "more"), "name one graph"),
    (("GRAPH", "--orderings", "fifo,deepest"), "unknown mode 'deepest': choose one of"),
    (("GRAPH", "--orderings", "hot:fifo"), "hot:fifo needs a query: add --query"),
    (("GRAPH", "--orderings", ","), "--orderings needs at least one"),
    (("GRAPH", "--start", "17"), "the graph has no page '17'; it has pages 0 to 5"),
    (("GRAPH", "--seeds", "one"), "--seeds=one is not a whole number from 1 to 10,000"),
    (("GRAPH", "--seeds", "1,one"), "--seeds=one is not a whole number from 0"),
    (("GRAPH", "--seeds", "0"), "is not a whole number from 1"),
    (("GRAPH", "--jobs", "0"), "--jobs=0 is not a whole number from 1 to 1,000"),
    (("GRAPH", "--jobs", "two"), "--jobs=two is not a whole number from 1 to 1,000"),
    (("synthetic", "--freshness", "--jobs", "2"), "--jobs is for orderings and strategies"),
    (("CRAWL", "--focused=topics.json", "--seeds=3"), "--seeds is for orderings and --freshness"),
    (("GRAPH", "--pages=5"), "--pages belongs to --focused TOPICS.json"),
    (("GRAPH", "--strategies=fifo"), "--strategies belongs to --focused TOPICS.json"),
    (("GRAPH", "--hot", "xx:3"), "--hot=xx:3: write metric:threshold"),
    (("GRAPH", "--hot", "is:biology"), "need texts"),
    (("GRAPH", "--hot", "ir:0%"), "--hot=ir:0%: a percentage must be above 0 %"),
    (("GRAPH", "--hot", "ic"), "compare pages with a query: add --query"),
    (("GRAPH", "--start", "0,17"), "the graph has no page '17'"),
    (("GRAPH", "--query", "\udcff"), "--query must be UTF-8 text"),
    (("GRAPH", "--start", "\udcff"), "--start must be UTF-8 text"),
    (("GRAPH", "--orderings", "hot\udcff", "--query", "a"), "--orderings must be UTF-8 text"),
    (("GRAPH", "--orderings", "random?seed=" + "9" * 5000), "seed=999"),
    (("GRAPH", "--json", "."), "cannot write to .: Is a directory"),
    (("GRAPH", "--json", "/proc/figures.json"), "cannot write to /proc"),
    (("GRAPH", "--plots", "/proc"), "cannot write to /proc"),
    (("GRAPH", "--buffer", "10"), "is not a number from 0 to 1"),
    (("GRAPH", "--buffer", "nan"), "is not a number"),
    (("GRAPH", "--flush", "worst"), "--flush=worst: choose one of ir, ib, fifo"),
    (("GRAPH", "--reorder", "0"), "--reorder must be above 0 percent"),
    (("GRAPH", "--max-pages", "-3"), "is not a whole number"),
    (("GRAPH", "--json", "/dev/null/figures.json"), "cannot write to /dev/null"),
    (("GRAPH", "--plots", "/dev/null/plots"), "cannot write to /dev/null/plots"),
    (("GRAPH", "--order", "fifo", "--bogus"), "unknown option --bogus"),
    (("GRAPH", "--orderings", "hot:fifo", "--query", "gene"), "hot:fifo needs anchors, which this graph"),
]


@pytest.mark.parametrize(("arguments", "line"), BAD, ids=[" ".join(row[0][1:])[:40] or "none" for row in BAD])
def test_asked_wrongly(run: Run, graph: Path, arguments: tuple[str, ...], line: str) -> None:
    answer = run(*(str(graph) if word == "GRAPH" else word for word in arguments))

    assert answer.status == 2, answer
    assert answer.out == ""
    assert answer.err.count("\n") == 1, answer.err
    assert line in answer.err


def on_a_terminal(folder: Path, number: int, *options: str) -> tuple[subprocess.Popen[str], int]:
    """The command in a session of its own, and the other side of its terminal."""
    (folder / "temporary").mkdir()
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "evaluate", str(testdata.data("webgraph-hollins")), *options],
        cwd=PROJECT,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "TMPDIR": str(folder / "temporary")},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # whoever runs the tests may ignore it
    )
    os.close(theirs)
    return process, terminal


def read_until(terminal: int, words: bytes) -> bytes:
    bar = b""
    while words not in bar:
        bar += os.read(terminal, 4096)
    return bar


def read_rest(terminal: int) -> bytes:
    found = b""
    with suppress(OSError):  # it was closed on the other side
        while chunk := os.read(terminal, 4096):
            found += chunk
    os.close(terminal)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_over_is_shown_when_it_is_interrupted(tmp_path: Path, number: signal.Signals) -> None:
    """A terminal has a bar for each crawl: at the second, the first is over. The private Redis ends, too."""
    options = ("--orderings", "fifo,backlink,pagerank", "--jobs", "1", "--json", str(tmp_path / "f.json"))
    process, terminal = on_a_terminal(tmp_path, number, *options)
    with process:
        bar = read_until(terminal, b"backlink")
        (private,) = (tmp_path / "temporary").iterdir()
        server = int((private / "redis" / "server").read_text())
        with ThreadPoolExecutor(1) as beside:  # who does not read a terminal holds up its writer
            rest = beside.submit(read_rest, terminal)
            process.send_signal(number)
            out, _ = process.communicate()
        bar += rest.result()

    assert process.returncode == 1
    assert b"interrupted: these crawls were over" in bar
    assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
    assert re.search(r"(?m)^fifo ", out)
    assert not re.search(r"(?m)^pagerank ", out)
    assert [one["ordering"] for one in json.loads((tmp_path / "f.json").read_text())["runs"]] == ["fifo"]


def servers_in(folder: Path) -> list[int]:
    """The process ids of the private servers that run."""
    written = (file.read_text() for file in folder.glob("*/redis/server"))
    return [int(text) for text in written if text]


def test_crawls_side_by_side_are_interrupted_together(tmp_path: Path) -> None:
    """Their processes and servers end, too."""
    process, terminal = on_a_terminal(tmp_path, signal.SIGINT, "--orderings", "pagerank,blend", "--jobs", "3")
    with process:
        bar = read_until(terminal, b"11 crawls, 3 at a time")
        with ThreadPoolExecutor(1) as beside:
            rest = beside.submit(read_rest, terminal)
            until(lambda: len(servers_in(tmp_path / "temporary")) == 3, "a server of each process")
            servers = servers_in(tmp_path / "temporary")
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of its processes
            process.communicate()
        bar += rest.result()

    assert process.returncode == 1
    assert b"interrupted: " in bar
    for server in servers:
        with pytest.raises(ProcessLookupError):
            os.kill(server, 0)
    assert list((tmp_path / "temporary").iterdir()) == []
    left = subprocess.run(["ps", "-o", "args=", "-g", str(process.pid)], capture_output=True, text=True)
    assert left.stdout == ""


def test_private_redis_ends_with_a_laboratory_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    code = (
        "from webcrawler.evaluation import private_redis\n"
        "with private_redis() as connection:\n"
        "    print(connection.client.info('server')['process_id'], flush=True)\n"
        "    input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    server = int(process.stdout.readline())

    process.kill()
    process.communicate()

    until(lambda: not list((tmp_path / "temporary").iterdir()), "its folders to be gone")
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


def test_interrupt_while_the_graph_is_read_is_one_line(tmp_path: Path) -> None:
    graph = tmp_path / "graph.tsv"
    os.mkfifo(graph)
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "evaluate", str(graph)],
        cwd=PROJECT,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with graph.open("w"):  # it is open on both sides now, and the command reads
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()

    assert said == "interrupted: no crawl was over\n"
    assert process.returncode == 1
