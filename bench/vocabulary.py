"""A vocabulary of a crawl: what it costs, and how good its corrections are.

    python bench/vocabulary.py CRAWL_DIR [--seed 2] [--json FILE]

Makes the vocabulary of CRAWL_DIR's catalog in a folder of its own (processor time; the most memory that this
process had), and reads it. Then 200 typos: each a word of five letters or more that 20 or more documents
have, with one edit or two at random (a letter inserted, deleted, replaced, or swapped with the next), where
that is not another known word. Right is a correction that finds what the word finds: its stem is the same.
And 200 words that three or more documents have, as they are: right is none.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.search.vocabulary import Vocabulary, load
from webcrawler.search.vocabulary.builder import make
from webcrawler.search.vocabulary.stored import NAME
from webcrawler.text.analysis import terms

TYPOS, WORDS = 200, 200
TYPO_DOCUMENTS, TYPO_CHARACTERS, WORD_DOCUMENTS = 20, 5, 3
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main() -> None:
    arguments = _arguments()
    with (
        tempfile.TemporaryDirectory() as name,
        closing(Catalog(arguments.crawl_dir / "catalog.sqlite", readonly=True)) as catalog,
    ):
        folder, began = Path(name), time.process_time()
        make(catalog, folder)
        figures: dict[str, Any] = {
            "build_seconds": time.process_time() - began,
            "build_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "file_mb": (folder / NAME).stat().st_size / 1e6,
        }
        began = time.process_time()
        vocabulary = load(folder, catalog.identity)
        figures["load_ms"] = 1000 * (time.process_time() - began)
    assert vocabulary is not None
    figures |= _figures(vocabulary, random.Random(arguments.seed))
    table = Table("figure", "value")
    for figure, value in figures.items():
        table.add_row(figure, f"{value:.3g}")
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("crawl_dir", type=Path)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _figures(vocabulary: Vocabulary, chance: random.Random) -> dict[str, float]:
    words = [word for word in vocabulary._spelling._words if word.isascii() and word.isalpha()]
    words = [word for word in words if vocabulary.frequency(word) >= WORD_DOCUMENTS]
    often = [word for word in words if vocabulary.frequency(word) >= TYPO_DOCUMENTS]
    typos = _typos([word for word in often if len(word) >= TYPO_CHARACTERS], set(words), chance)
    some = chance.sample(words, WORDS)
    vocabulary.corrections(typos[0][1])  # the first one has to prepare
    right = {edits: [_is_right(vocabulary, *typo) for *typo, n in typos if n == edits] for edits in (1, 2)}
    return {
        "one_edit_right": sum(right[1]) / len(right[1]),
        "two_edits_right": sum(right[2]) / len(right[2]),
        "typos_right": (sum(right[1]) + sum(right[2])) / TYPOS,
        "words_left_alone": sum(not vocabulary.corrections(word) for word in some) / WORDS,
        "correction_ms": _mean_ms(vocabulary.corrections, [typo for _, typo, _ in typos]),
        "completion_ms": _mean_ms(vocabulary.completions, [word[:n] for word in some for n in (1, 2, 4)]),
    }


def _typos(words: list[str], known: set[str], chance: random.Random) -> list[tuple[str, str, int]]:
    """The word, its typo, the number of edits."""
    found: list[tuple[str, str, int]] = []
    while len(found) < TYPOS:
        word, edits = chance.choice(words), chance.choice((1, 2))
        typo = word
        for _ in range(edits):
            typo = _edited(typo, chance)
        if typo not in known and typo != word:
            found.append((word, typo, edits))
    return found


def _edited(word: str, chance: random.Random) -> str:
    place, letter = chance.randrange(len(word) - 1), chance.choice(LETTERS)
    before, here, after = word[:place], word[place], word[place + 1 :]
    edits = (before + letter + here + after, before + after, before + letter + after)
    return chance.choice((*edits, before + after[0] + here + after[1:]))


def _is_right(vocabulary: Vocabulary, word: str, typo: str) -> bool:
    corrections = vocabulary.corrections(typo)
    return bool(corrections) and terms(corrections[0].word) == terms(word)


def _mean_ms(ask: Callable[[str], object], texts: list[str]) -> float:
    began = time.process_time()
    for text in texts:
        ask(text)
    return 1000 * (time.process_time() - began) / len(texts)


if __name__ == "__main__":
    main()
