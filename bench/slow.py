"""One server that answers at once, beside ten thousand that take their time: does it keep its rate?

    python bench/slow.py [--servers 10000] [--answer 20] [--seconds 60] [--json FILE]

A proxy on loopback plays all of them. The fast server has pages without end and is asked every tenth of a
second; each slow one answers after --answer seconds, its robots.txt as well. `scrapy crawl index` in the mode
breadth, where servers without a document come first, runs for --seconds with the fast server alone and with
all of them, and the pages of the fast server that were asked for are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from serving import ROOT

FAST = "http://fast.test"
DELAY_SECONDS = 0.1
LINKS = 50  # of a page


class Proxy:
    """Answers for any host, on a thread of its own; `asked` counts requests by host."""

    def __init__(self, answer_seconds: float) -> None:
        self.asked: Counter[str] = Counter()
        self._answer_seconds = answer_seconds
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000)
        )
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                target = request.split(b" ", 2)[1].decode()
                host, _, path = target.removeprefix("http://").partition("/")
                self.asked[host] += path != "robots.txt"
                if host != "fast.test":
                    await asyncio.sleep(self._answer_seconds)
                writer.write(_answer(path))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def _answer(path: str) -> bytes:
    number = int(path) if path.isdecimal() else 0
    links = "".join(f'<a href="/{number * LINKS + n}">{n}</a> ' for n in range(1, LINKS + 1))
    body = b"" if path == "robots.txt" else f"<title>Page {path}</title><p>{path} {links}".encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _crawl(seeds: list[str], proxy: Proxy, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="wc-slow-") as folder:
        listed = Path(folder) / "seeds"
        listed.write_text("\n".join(seeds))
        environment = os.environ | {
            "http_proxy": proxy.url,
            "CRAWL_DIR": f"{folder}/crawl",
            "FRONTIER_DELAY": str(DELAY_SECONDS),
            "FRONTIER_SLOWNESS": "0",
            "LOG_LEVEL": "WARNING",
        }
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "crawl",
            "index",
            "-a",
            f"seeds=@{listed}",
            "-a",
            f"max_time={seconds}",
        ]
        process = await asyncio.create_subprocess_exec(*command, env=environment, cwd=ROOT)
        await process.wait()


def measure(servers: int, answer_seconds: float, seconds: float) -> dict[str, Any]:
    """Pages of the fast server in a crawl of its own, and beside the slow ones; slow ones asked."""
    figures: dict[str, Any] = {"servers": servers, "answer_seconds": answer_seconds, "seconds": seconds}
    slow = [f"http://slow{n}.test/" for n in range(servers)]
    for name, seeds in {"alone": [FAST + "/"], "beside": [FAST + "/", *slow]}.items():
        proxy = Proxy(answer_seconds)
        asyncio.run(_crawl(seeds, proxy, seconds))
        figures[name] = proxy.asked.pop("fast.test", 0)
        figures["slow_asked"] = len(proxy.asked)
    figures["ratio"] = figures["beside"] / max(1, figures["alone"])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--servers", type=int, default=10_000)
    parser.add_argument("--answer", type=float, default=20.0, help="seconds until a slow one answers (20)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each crawl (60)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    figures = measure(asked.servers, asked.answer, asked.seconds)
    table = Table("one fast server", "pages", "a second")
    for name in ("alone", "beside"):
        table.add_row(name, str(figures[name]), f"{figures[name] / asked.seconds:.1f}")
    console = Console()
    console.print(table)
    console.print(
        f"slow servers asked: {figures['slow_asked']}; the fast one keeps {figures['ratio']:.0%} of its rate"
    )
    if asked.json:
        asked.json.write_text(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
