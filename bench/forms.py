"""How many queries of a search form does it take to find the records behind it?

    python bench/forms.py [--records 5000] [--pages 20] [--crawl] [--json FILE]

The records are abstracts of papers, and questions about them (../shared/data, or SHARED_DIR), behind SQLite's
full-text search: ten results a page, and so many pages of results at most. Compared are words chosen

- by an oracle, which knows the results of all words and always takes the one that brings the most,
- as a crawl chooses them,
- by how many of the records seen have them (Ntoulas, Zerfos and Cho 2005: the adaptive policy, each word
  being as frequent in the unseen records),
- at random from the records seen, with five seeds,
- by their frequency in general English (wordfreq), the most frequent first.

All begin with the ten newest records. With --crawl, a real crawl of a web server fills in its form, too (ten
minutes), with the number of words that the server was asked when it had shown so many records.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench/faults")]

import wordfreq  # noqa: E402
from hiddenweb import NEWEST, Index, catalogue, library, oracle  # noqa: E402
from localweb import crawl  # noqa: E402

from webcrawler.crawl import wiring  # noqa: E402
from webcrawler.forms import Evidence, Pages  # noqa: E402
from webcrawler.text import telling_terms, words  # noqa: E402

SHARES = (0.5, 0.75, 0.9, 0.95)
MOST = 2000  # queries
ENGLISH = 20_000
SEEDS = range(1, 6)  # of words at random


class Player:
    """Asks words until enough records are seen, and keeps how many were after each."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.seen = set(range(len(index.records) - NEWEST, len(index.records)))
        self.curve: list[int] = []

    def ask(self, word: str) -> list[int]:
        found = self.index.search(word)
        self.seen.update(found)
        self.curve.append(len(self.seen))
        return found

    def queries_for(self, share: float) -> int | None:
        wanted = share * len(self.index.records)
        return next((n for n, seen in enumerate(self.curve, 1) if seen >= wanted), None)


def by_oracle(player: Player) -> Iterator[str]:
    yield from oracle(player.index.answers(), SHARES[-1] * len(player.index.records))


def by_crawl(player: Player) -> Iterator[str]:
    """As a crawl would: pages get numbers in the order of their discovery."""
    pages = Pages()
    evidence, numbers, new = Evidence(pages), dict[int, int](), count(1)

    def number_of(record: int) -> int:
        if record not in numbers:
            numbers[record] = next(new)
            pages.add(numbers[record], " ".join(player.index.records[record]))
        return numbers[record]

    for record in sorted(player.seen):
        number_of(record)
    while word := evidence.next_word():
        query = next(new)
        yield word
        evidence.add_results(query, word, [number_of(record) for record in player.index.search(word)])


def by_frequency(player: Player) -> Iterator[str]:
    counted, frequencies, asked = set[int](), Counter[str](), set[str]()
    while True:
        for record in player.seen - counted:
            frequencies.update(vocabulary(player, record))
        counted |= player.seen
        word = max(frequencies.keys() - asked, key=lambda word: (frequencies[word], word), default="")
        if not word:
            return
        asked.add(word)
        yield word


def at_random(player: Player, seed: int) -> Iterator[str]:
    chance, known, counted, asked = random.Random(seed), list[str](), set[int](), set[str]()
    while True:
        for record in sorted(player.seen - counted):
            known += sorted(vocabulary(player, record) - set(known))
        counted |= player.seen
        left = [word for word in known if word not in asked]
        if not left:
            return
        asked.add(word := chance.choice(left))
        yield word


def by_english(player: Player) -> Iterator[str]:
    found = wordfreq.top_n_list("en", ENGLISH)
    yield from (word for word, term in zip(found, telling_terms(found, "en"), strict=True) if term)


def vocabulary(player: Player, record: int) -> set[str]:
    """Without function words: a crawl does not ask these, either."""
    found = words(" ".join(player.index.records[record]).lower())
    return {word for word, term in zip(found, telling_terms(found, "en"), strict=True) if term}


CHOOSERS: dict[str, Callable[[Player], Iterator[str]]] = {
    "oracle": by_oracle,
    "as a crawl": by_crawl,
    "most frequent in records": by_frequency,
    "general English": by_english,
}


def played(index: Index, choose: Callable[[Player], Iterator[str]]) -> list[int | None]:
    player = Player(index)
    for word in choose(player):
        player.ask(word)
        if player.queries_for(SHARES[-1]) or len(player.curve) == MOST:
            break
    return [player.queries_for(share) for share in SHARES]


def crawled(index: Index) -> tuple[list[int | None], dict[str, float]]:
    total = len(index.records)
    with catalogue(index.records, index.pages) as site, tempfile.TemporaryDirectory() as folder:
        settings = {"ITEM_PIPELINES": json.dumps(wiring.SETTINGS["ITEM_PIPELINES"]), "FORMS": site.url}
        crawl(Path(folder), "index", "-a", f"seeds={site.url}/", seconds=3600, **settings)
        figures = {
            "queries": len(site.asked),
            "share": len(site.fetched) / total,
            "requests": len(site.paths),
        }
        return [site.queries_for(share * total) for share in SHARES], figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=5000, help="(5000)")
    parser.add_argument("--pages", type=int, default=20, help="of results, ten each (20)")
    parser.add_argument("--crawl", action="store_true", help="crawl a web server, too")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    index = Index(library(asked.records), asked.pages)
    print(f"{len(index.records):,} records, {10 * index.pages} results of a query at most")
    print(f"{'queries for':26}" + "".join(f"{share:8.0%}" for share in SHARES) + "   90 % to oracle's")
    rows: dict[str, list[int | None]] = {}
    figures: dict[str, float] = {}
    for name, choose in CHOOSERS.items():
        rows[name] = played(index, choose)
        show(name, rows[name], rows["oracle"])
    drawn = [played(index, partial(at_random, seed=seed)) for seed in SEEDS]
    show_drawn(drawn)
    if asked.crawl:
        rows["real crawl"], figures = crawled(index)
        show("real crawl", rows["real crawl"], rows["oracle"])
        print(
            "the crawl ended after {queries} queries with {share:.1%}; {requests} requests".format(**figures)
        )
    if asked.json:
        figures_of_all = {"queries": rows, "random": drawn, "crawl": figures}
        asked.json.write_text(json.dumps(figures_of_all, indent=2) + "\n")


def show(name: str, queries: list[int | None], best: list[int | None]) -> None:
    ninety = SHARES.index(0.9)
    own, least = queries[ninety], best[ninety]
    ratio = f"{own / least:10.2f}" if own and least else ""
    print(f"{name:26}" + "".join(f"{number or f'>{MOST}':>8}" for number in queries) + ratio, flush=True)


def show_drawn(drawn: list[list[int | None]]) -> None:
    """Medians of all seeds, and the fewest and the most."""
    columns = [sorted(number or MOST + 1 for number in of) for of in zip(*drawn, strict=True)]
    for what, place in (("median", len(drawn) // 2), ("fewest", 0), ("most", -1)):
        shown = [f">{MOST}" if of[place] > MOST else str(of[place]) for of in columns]
        print(f"{what + ' of random words':26}" + "".join(f"{number:>8}" for number in shown), flush=True)


if __name__ == "__main__":
    main()
