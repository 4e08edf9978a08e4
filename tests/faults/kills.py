"""kill -9 of a crawl's processes at random times, again and again, and what the crawl has lost in the end.

    python tests/faults/kills.py DOCWEB [--proxy URL] [--kills 10] [--seed N] [--folder DIR] [--json FILE]

Crawls docweb (`../shared/docweb`, built into the folder DOCWEB and served behind the proxy). The crawl, the
index follower and the embedded server are each killed --kills times, in random order, at random numbers of
documents and up to 1 s later. The crawl is started again at once; follower and server are its to revive.
Then it runs to its end. In the table, "in flight" is what was leased at the kills; "refetched" are documents
downloaded anew; "resumed" is the longest time from the new start (of the server: from its end) until another
lease is decided, for the follower until another one is at work.
"""

import argparse
import json
import random
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from victim import KILLED, SEED, Kill, Victim

KINDS = ("crawl", "follower", "server")
DOWNLOADED = re.compile(r"Crawled \(200\) <GET (\S+)>")
SPREAD = 0.8  # of a crawl's documents: kills take their time, and the last one should find it alive
DELAY_SECONDS = 0.003  # between fetches of a server, for each of the kills


def measure(victim: Victim, chance: random.Random, kills: int, documents: int) -> dict[str, Any]:
    """Kills of each kind spread over a crawl of so many documents, then the crawl's end, as figures."""
    kinds = list(KINDS) * kills
    chance.shuffle(kinds)
    points = sorted(chance.randrange(round(documents * SPREAD)) for _ in kinds)
    began = time.monotonic()
    done = [victim.kill(kind, at) for kind, at in zip(kinds, points, strict=True)]
    status = victim.finish()
    *refetched, unexplained = refetches(victim.log, done)
    return {
        "seconds": time.monotonic() - began,
        "exit_status": status,
        "crashes": victim.crashes,
        "documents": victim.documents(),
        "states": victim.states(),
        "kills": [kill._asdict() | {"refetched": n} for kill, n in zip(done, refetched, strict=True)],
        "refetched_unexplained": unexplained,
        "leftovers": victim.leftovers(),
    }


def refetches(log: Path, kills: list[Kill]) -> list[int]:
    """Documents downloaded anew because of each kill; of what no kill explains, in one more place.

    Explained by the first kill of the crawl after the earlier download, else of the server.
    """
    counts, past = [0] * (len(kills) + 1), 0
    last: dict[str, int] = {}  # kills before the newest download of a URL
    for line in log.read_text("utf-8", "replace").splitlines():
        past += line.startswith(KILLED)
        found = DOWNLOADED.search(line)
        if found and not found[1].endswith("/robots.txt"):
            if found[1] in last:
                between = range(last[found[1]], past)
                suspects = [n for kind in ("crawl", "server") for n in between if kills[n].kind == kind]
                counts[suspects[0] if suspects else -1] += 1
            last[found[1]] = past
    return counts


def show(figures: dict[str, Any]) -> None:
    table = Table("kill -9 of", "times", "in flight", "refetched", "resumed (s)")
    for kind in KINDS:
        kills = [kill for kill in figures["kills"] if kill["kind"] == kind]
        in_flight, refetched = (sum(kill[name] for kill in kills) for name in ("in_flight", "refetched"))
        resumed = max((kill["resumed"] for kill in kills), default=0.0)
        table.add_row(kind, str(len(kills)), str(in_flight), str(refetched), f"{resumed:.1f}")
    console = Console()
    console.print(table)
    for name, value in figures.items():
        if name != "kills":
            console.print(f"{name:<22} {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("docweb", type=Path)
    parser.add_argument("--proxy", default="http://127.0.0.1:8800")
    parser.add_argument("--kills", type=int, default=10, help="of each kind (10)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--folder", type=Path, help="for the data of the crawl, and its log")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    web = json.loads((asked.docweb / "web.json").read_text("utf-8"))
    expected = next(seed["pages_by_robots"] for seed in web["seeds"] if seed["url"] == SEED)
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (asked.folder or Path(temporary)) / "crawl"
        victim = Victim(folder, asked.proxy, asked.kills * DELAY_SECONDS, chance)
        figures = measure(victim, chance, asked.kills, expected)
    show({"seed": asked.seed, "documents_expected": expected, **figures})
    if asked.json:
        asked.json.write_text(json.dumps({"seed": asked.seed, "documents_expected": expected, **figures}))


if __name__ == "__main__":
    main()
