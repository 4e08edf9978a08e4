"""Serves a maze as an HTTP proxy, has it crawled, and says what was found of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from localweb import WITHOUT_INDEX, scrapy

from zoo.exchange import Exchange, requests
from zoo.mazes import Maze
from zoo.server import served

ENOUGH = 0.95  # of its pages


class Figures(NamedTuple):
    recall: float  # of the maze's pages
    neighbours: float  # found of their pages
    traps: float  # share of the fetches
    enough_at: int  # fetches, 0: never
    by_then: float  # share of traps among these


class Proxy:
    """Answers for every host. `asked` is what was fetched, in order."""

    def __init__(self, maze: Maze) -> None:
        self._maze = maze
        self.asked: list[str] = []
        self.url = ""

    async def listen(self) -> list[asyncio.Server]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return [server]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for url in requests(reader):
            exchange = Exchange(url, self.url, reader, writer)
            if urlsplit(url).path == "/robots.txt":
                await exchange.answer("", status="404 Not Found")
            else:
                self.asked.append(url)
                await exchange.answer(self._maze.answer(url))
            break
        writer.close()


def crawl_maze(folder: Path, maze: Maze, mode: str, fetches: int, **more: object) -> Figures:
    """A crawl of a maze and its neighbours in a process of its own, of so many pages."""
    with served(Proxy(maze)) as proxy:
        settings = {
            "FRONTIER_DELAY": 0,
            "ITEM_PIPELINES": WITHOUT_INDEX,
            "PARSER_WORKERS": 1,
            "LOG_LEVEL": "WARNING",
            **more,
        }
        options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        asked = ["-a", f"mode={mode}", "-a", f"max_pages={fetches}", "-a", f"seeds={','.join(maze.seeds)}"]
        process = scrapy("crawl", "index", *options, *asked, folder=folder, http_proxy=proxy.url)
        log = process.communicate()[1]
        assert process.returncode == 0, log
    return figures(maze, proxy.asked[:fetches])


def figures(maze: Maze, fetched: list[str]) -> Figures:
    found: set[str] = set()
    enough_at = traps = by_then = 0
    for n, url in enumerate(fetched, 1):
        traps += url not in maze.pages and url not in maze.neighbours
        found.add(url)
        if not enough_at and len(found & maze.pages.keys()) >= ENOUGH * len(maze.pages):
            enough_at, by_then = n, traps
    recall, neighbours = (
        len(found & some.keys()) / (len(some) or 1) for some in (maze.pages, maze.neighbours)
    )
    return Figures(recall, neighbours, traps / len(fetched), enough_at, by_then / (enough_at or 1))
