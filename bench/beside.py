"""Does a real-time search beside an index crawl find what it finds alone, and as soon?

    python bench/beside.py --docweb DIR [--proxy URL] [--rounds 3] [--json FILE]

A round is the same `scrapy crawl realtime` twice, each in a data folder of its own that has docweb's pages on
Flask: alone, and beside an index crawl at full speed of all of docweb but the server where the search stays.
The search begins once that crawl has fetched 300 pages, and fetches 150 pages itself. *First find*: from the
start of the command until a page that it fetched is in its list; *end*: until the command ends.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from focusedcrawls import SETTINGS
from rich.console import Console
from rich.table import Table
from serving import ROOT, proxy

from webcrawler.archive.catalog import Catalog
from webcrawler.index import follower
from webcrawler.realtime import journal

QUERY, SERVER, PAGES = "asyncio event loop", "docs.python.org", 150
KNOWN = "flask.palletsprojects.com"
HEAD_START = 300  # documents of the crawl
POLL_SECONDS = 0.05
TOP = 10


def main() -> None:
    told = _arguments()
    alone, beside = [], []
    with proxy(told.docweb, told.proxy) as url:
        lab = Lab(url, told.docweb)
        for _ in range(told.rounds):
            alone.append(lab.round(is_beside=False))
            beside.append(lab.round(is_beside=True))
            print(alone[-1]["figures"], beside[-1]["figures"], file=sys.stderr)
    figures: dict[str, Any] = {}
    for name in ("first find", "end"):
        both = [median(one["figures"][name] for one in some) for some in (alone, beside)]
        figures[name] = {"alone, s": round(both[0], 1), "beside, s": round(both[1], 1)}
        figures[name]["ratio"] = round(both[1] / both[0], 2)
    shared = [len({*one["top"]} & {*two["top"]}) for one, two in zip(alone, beside, strict=True)]
    figures["of the 10 best hits alone, found beside"] = shared
    table = Table("figure", "value")
    for name, value in figures.items():
        table.add_row(name, str(value))
    Console().print(table)
    if told.json:
        told.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


class Lab:
    def __init__(self, proxy: str, docweb: Path) -> None:
        self._environment = os.environ | SETTINGS | {"http_proxy": proxy, "CRAWL_NICE": "10"}
        hosts = json.loads((docweb / "web.json").read_text())["hosts"]
        self._others = {name: host["home"] for name, host in hosts.items() if name not in (SERVER, KNOWN)}

    def round(self, is_beside: bool) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="beside-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            seeds = f"seeds=http://{KNOWN}/"
            self._start(folder, "index", seeds, f"domains={KNOWN}").wait()
            follower.wait_until_caught_up(folder)
            if not is_beside:
                return self._search(folder)
            known = _documents(folder)
            arguments = f"seeds={','.join(self._others.values())}", f"domains={','.join(self._others)}"
            crawl = self._start(folder, "index", *arguments)
            while _documents(folder) < known + HEAD_START and crawl.poll() is None:
                time.sleep(POLL_SECONDS)
            found = self._search(folder)
            found["figures"]["the crawl goes on"] = crawl.poll() is None
            found["figures"]["behind"] = follower.lag(folder)
            crawl.terminate()
            crawl.wait()
            follower.wait_until_caught_up(folder)
            return found

    def _search(self, folder: Path) -> dict[str, Any]:
        began, first = time.monotonic(), 0.0
        arguments = f"query={QUERY}", f"seeds=http://{SERVER}/3/", f"domains={SERVER}", "enough=0"
        search = self._start(folder, "realtime", *arguments, f"max_pages={PAGES}", "job=bench")
        while search.poll() is None:
            now = journal.read(folder, "bench")
            if not first and now and any(hit["source"] == "web" for hit in now["hits"]):
                first = time.monotonic() - began
            time.sleep(POLL_SECONDS)
        end = time.monotonic() - began
        last = journal.read(folder, "bench")
        if search.returncode or last is None:
            sys.exit(f"bench: the search came to nothing, see {folder}")
        figures = {"first find": first or end, "end": end, "fetched": last["fetched"]}
        own = [hit["url"] for hit in last["hits"] if hit["server"] == f"http://{SERVER}"]
        return {"figures": figures, "top": own[:TOP]}

    def _start(self, folder: Path, spider: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "scrapy", "crawl", spider]
        command += [part for one in arguments for part in ("-a", one)]
        environment = self._environment | {"CRAWL_DIR": str(folder)}
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)


def _documents(folder: Path) -> int:
    path = folder / "catalog.sqlite"
    if not path.exists():
        return 0
    with closing(Catalog(path, readonly=True)) as catalog:
        return catalog.count_documents()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docweb", type=Path, required=True, help="folder made by `docweb.py build`")
    parser.add_argument("--proxy", default="", help="URL where that is served already")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
