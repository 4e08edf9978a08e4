"""A crawl that learns over a web made by rule; as a program it is killed after some pages.

python learnt_crawl.py PORT_OR_SOCKET DB MODE FOLDER PAGES KILLED

KILLED: when the process is killed, while it works on the last page, by what it has done last: "completed" or
"replanned".
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import redis
from learning import Web, link, seen, text

from webcrawler.archive.learnt import Learnt, go_on, remember
from webcrawler.frontier import Done, Failed, Frontier, Politeness, ordering

QUERY = "query=gene+cell"
MODES = [
    *(f"{name}?{QUERY}" for name in ("adaptive", "credit", "webcrawler", "context-graph", "classifier")),
    *("seed-similarity", "classifier", "context-graph"),
]
SERVERS, PAGES = 8, 60
SEED = "http://s0.test/0"
_TEXT = "gene cell genome tree leaf ship harbour wind share bond price dna oak sail"
WORDS = _TEXT.split()


def web() -> Web:
    """Each page links to five others; what a page is about depends on its number, and some are missing."""
    pages: Web = {}
    for server in range(SERVERS):
        for number in range(PAGES):
            n = server * 31 + number * 7
            body = " ".join(WORDS[(n * k + number // 9) % len(WORDS)] for k in range(2, 22))
            targets = [(server, number + 1), (server, number * 2 + 1), ((n + 3) % SERVERS, n % PAGES)]
            targets += [((n * 5) % SERVERS, (n * 11) % PAGES), (server, PAGES + number)]
            links = [
                (f"http://s{s}.test/{p}", WORDS[(s + p) % len(WORDS)]) for s, p in targets if p < PAGES + 9
            ]
            pages[f"http://s{server}.test/{number}"] = body, list(dict(links).items())
    return pages


def step(frontier: Frontier, pages: Web) -> str:
    url = fetch(frontier, pages)
    frontier.replan()
    return url


def fetch(frontier: Frontier, pages: Web) -> str:
    (lease,) = frontier.lease(1).leases
    by = frontier.ordering
    if lease.url not in pages:
        by.learn([seen(lease.url)])
        frontier.fail([Failed(lease, "failed/not-found", retry=False)])
    else:
        body, outlinks = pages[lease.url]
        links = [link(url, anchor) for url, anchor in outlinks if url != lease.url]
        by.learn([seen(lease.url, body, *links)])
        note = by.page_note(text(body), lease)
        frontier.complete([Done(lease, "document", True, links, note=note)])
    return lease.url


def opened(client: redis.Redis, mode: str, learnt: Learnt | None = None) -> Frontier:
    frontier = Frontier(client, ordering(mode), politeness=Politeness(delay=0.0), worker="w")
    frontier.open(mode)
    if learnt:
        go_on(frontier, learnt)
    frontier.discover([link(SEED)])
    return frontier


def crawled(client: redis.Redis, mode: str, steps: int) -> list[str]:
    frontier, pages = opened(client, mode), web()
    return [step(frontier, pages) for _ in range(steps)]


def continued(client: redis.Redis, mode: str, folder: Path, steps: int) -> list[str]:
    learnt, lock = remember(ordering(mode), mode, folder)
    with lock, closing(learnt):
        frontier, pages = opened(client, mode, learnt), web()
        return [step(frontier, pages) for _ in range(steps)]


def main() -> None:
    where, database, mode, folder, steps, killed = sys.argv[1:]
    place = {"port": int(where)} if where.isdecimal() else {"unix_socket_path": where}
    client = redis.Redis(db=int(database), **place)
    learnt, _ = remember(ordering(mode), mode, Path(folder))
    frontier, pages = opened(client, mode, learnt), web()
    for _ in range(int(steps) - 1):
        print(step(frontier, pages), flush=True)
    last = {"completed": fetch, "replanned": step}[killed]
    print(last(frontier, pages), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
