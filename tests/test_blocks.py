"""What repeats over the pages of a server is no main content."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from searched import entry

from webcrawler.archive.catalog import SAMPLED, Catalog
from webcrawler.index import Live
from webcrawler.index.follower import Follower
from webcrawler.records import Entry, Text
from webcrawler.text import content, simhash

MENU, FOOTER = "Home Products Contact", "Copyright by all of us"


def words(number: int) -> str:
    return " ".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=60))


def page(number: int, *blocks: str, server: str = "http://a.test") -> Entry:
    body = "\n".join((*blocks[:1], words(number), *blocks[1:], ""))
    found = entry((f"{server}/{number}", f"Page {number}", body))
    return replace(found, simhash=simhash(body))


def written(folder: Path, entries: Sequence[Entry]) -> Catalog:
    catalog = Catalog(folder / "catalog.sqlite")
    for start in range(0, len(entries), 7):
        catalog.write([(one, None) for one in entries[start : start + 7]])
    return catalog


def is_repeated(catalog: Catalog, block: str, server: str = "http://a.test") -> bool:
    (digest,) = content.digests(Text("", "", "", "", block))
    return digest in catalog.blocks.repeats(server).digests


@pytest.mark.parametrize(
    ("having", "others", "repeats"),
    [
        (1, 0, False),
        (3, 0, False),  # too few to tell a menu from copies of a page
        (4, 0, True),
        (4, 28, True),  # one page in eight
        (4, 29, False),
    ],
)
def test_a_block_repeats_that_stands_on_enough_pages_of_a_server(
    tmp_path: Path, having: int, others: int, repeats: bool
) -> None:
    pages = [page(number, MENU) for number in range(having)]

    with closing(written(tmp_path, [*pages, *(page(100 + number) for number in range(others))])) as catalog:
        assert is_repeated(catalog, MENU) is repeats


def test_blocks_of_other_servers_do_not_count(tmp_path: Path) -> None:
    pages = [page(number, MENU, server=f"http://{number}.test") for number in range(8)]

    with closing(written(tmp_path, pages)) as catalog:
        assert not is_repeated(catalog, MENU, "http://1.test")


def test_blocks_in_the_middle_of_long_pages_do_not_count(tmp_path: Path) -> None:
    def long(number: int) -> Entry:
        lines = [words(1000 * number + line) for line in range(2 * content.EDGE)]
        return page(number, MENU, *lines[: content.EDGE], "middle", *lines[content.EDGE :])

    with closing(written(tmp_path, [long(number) for number in range(8)])) as catalog:
        assert is_repeated(catalog, MENU)
        assert not is_repeated(catalog, "middle")


def test_pages_that_nearly_repeat_another_do_not_count(tmp_path: Path) -> None:
    versions = [entry((f"http://a.test/{n}", "", f"version\n{words(1) * 5}")) for n in range(8)]
    same = [replace(version, simhash=12345) for version in versions]

    with closing(written(tmp_path, same)) as catalog:
        assert not is_repeated(catalog, "version")


def test_a_sample_of_the_pages_tells_the_same_in_any_order(tmp_path: Path) -> None:
    pages = [page(number, f"block {number % 5}") for number in range(SAMPLED + 16)]
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"

    with closing(written(ours, pages)) as catalog, closing(written(theirs, pages[::-1])) as other:
        known = catalog.blocks.repeats("http://a.test")
        assert known == other.blocks.repeats("http://a.test")
        assert (known.pages, len(known.digests)) == (SAMPLED, 5)


def test_a_document_that_leaves_takes_its_blocks_along(tmp_path: Path) -> None:
    with closing(written(tmp_path, [page(number, MENU) for number in range(4)])) as catalog:
        catalog.discard([1])

        assert catalog.blocks.repeats("http://a.test") == (3, frozenset())


# The index


def found_in(folder: Path, field: str, term: str) -> list[int]:
    reading = Live(folder).reading()
    assert reading is not None
    return sorted(reading.posted(field, term).pages.tolist())


def test_repeated_blocks_are_found_around_the_content_only(tmp_path: Path) -> None:
    written(tmp_path, [page(number, MENU, FOOTER) for number in range(1, 6)]).close()
    with closing(Follower(tmp_path)) as follower:
        follower.catch_up()

    assert found_in(tmp_path, "around", "copyright") == [1, 2, 3, 4, 5]
    assert found_in(tmp_path, "body", "copyright") == []
    assert found_in(tmp_path, "body", "x") != []


def test_a_page_of_repeated_blocks_alone_is_main_content(tmp_path: Path) -> None:
    bare = entry(("http://a.test/bare", "", f"{MENU}\n{FOOTER}"))
    written(tmp_path, [*(page(number, MENU, FOOTER) for number in range(1, 6)), bare]).close()
    with closing(Follower(tmp_path)) as follower:
        follower.catch_up()

    assert found_in(tmp_path, "body", "copyright") == [6]


def test_what_was_indexed_before_its_server_was_known_is_put_right_before_segments_are_merged(
    tmp_path: Path,
) -> None:
    with closing(written(tmp_path, [])) as catalog, closing(Follower(tmp_path)) as follower:
        for number in range(1, 7):
            catalog.write([(page(number, MENU, FOOTER), None)])
            follower.catch_up()
        assert found_in(tmp_path, "body", "copyright") == [1, 2, 3]

        follower.optimize()

        assert found_in(tmp_path, "body", "copyright") == []
        assert found_in(tmp_path, "around", "copyright") == [1, 2, 3, 4, 5, 6]
        assert follower.outdated() == []
