"""What searches read of the index is what is in it, and what Whoosh itself reads of the same files."""

import pickle
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from learning import text
from memory_reading import encode
from whoosh.codec.whoosh3 import W3Codec
from whoosh.index import open_dir
from whoosh.reading import SegmentReader

from webcrawler.errors import Unavailable
from webcrawler.index import Live, Posted, Reading, codec, files, reader
from webcrawler.index.hits import (
    HitList,
    PlainHit,
    decode_vector,
    encode_vector,
    field,
    hit_lists,
    vector,
)
from webcrawler.index.postings import Values, packed, unpacked
from webcrawler.index.schema import Anchored, Indexable
from webcrawler.index.writer import WhooshEngine
from webcrawler.records import Document
from webcrawler.text.analysis import terms

SERVER = "http://a.example"
HITS = HitList()
Found = dict[int, list[PlainHit]]  # page number: hits


def document(number: int, server: str = SERVER) -> Document:
    return Document(
        number, number, f"{server}/page{number}", server, 1.5, 200, "text/html", b"", 3, 0, False, None
    )


def filled(folder: Path, *commits: Mapping[int, str | None], optimize: bool = False) -> Path:
    """An index of bodies by page number, None where a page is gone."""
    engine = WhooshEngine(folder, "identity")
    for seq, bodies in enumerate(commits, 1):
        documents = [
            Indexable(document(number), text(body)) for number, body in bodies.items() if body is not None
        ]
        engine.commit(bodies.keys(), documents, seq)
    if optimize:
        engine.optimize()
    engine.close()
    return folder


def reading(folder: Path) -> Reading:
    opened = Live(folder).reading()
    assert opened is not None
    return opened


def as_found(posted: Posted) -> Found:
    pages, counts, values = posted
    assert len(set(pages.tolist())) == len(pages) == len(counts)
    found = {page: HITS.decode_hits(value) for page, value in zip(pages.tolist(), values, strict=True)}
    assert [len(hits) for hits in found.values()] == counts.tolist()
    return found


def stock(folder: Path) -> dict[str, Found]:
    """Every term of the body, by Whoosh's own codec, reader and matcher."""
    index, found = open_dir(str(folder / "index")), dict[str, Found]()
    for segment in index._segments():
        reader = SegmentReader(index.storage, index.schema, segment, codec=W3Codec())
        for term in reader.field_terms("body"):
            matcher = reader.postings("body", term)
            while matcher.is_active():
                if not reader.is_deleted(matcher.id()):
                    hits = matcher.value_as("hits")
                    assert matcher.weight() == len(hits)
                    number = reader.stored_fields(matcher.id())["number"]
                    found.setdefault(term, {})[number] = hits
                matcher.next()
    return found


# All at once


bodies = st.lists(st.sampled_from(["red", "Red", "giant", "the", "dwarf", "star"]), max_size=8).map(" ".join)
far = st.just("cell " * 5000 + "star")  # positions that need four bytes
commits = st.lists(
    st.dictionaries(st.integers(1, 9), st.none() | bodies | far, min_size=1, max_size=6), max_size=6
)


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(commits, st.booleans(), st.sampled_from([(1, 1), (2, 3), (4096, 16)]))
def test_it_is_what_was_written_last_and_what_whoosh_reads(
    written: list[dict[int, str | None]], optimize: bool, limits: tuple[int, int]
) -> None:
    """Whatever was replaced, deleted and merged, and however the postings are cut into blocks."""
    now: dict[int, str] = {}
    for step in written:
        now = {number: body for number, body in {**now, **step}.items() if body is not None}
    expected: dict[str, Found] = {}
    for number, body in now.items():
        for term, hits in hit_lists(body).items():
            found = [PlainHit(hit >> 4, (hit >> 1 & 7) - 1, bool(hit & 1)) for hit in hits]
            expected.setdefault(term, {})[number] = found

    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "_BLOCK_POSTINGS", limits[0])
        patch.setattr(codec, "_FEW_POSTINGS", limits[1])
        folder = filled(Path(name), *written, optimize=optimize)
        opened = Live(folder).reading()

        assert stock(folder) == expected
        assert (opened is None) == (not now)
        if opened:
            assert {term: as_found(opened.posted("body", term)) for term in expected} == expected
            assert np.flatnonzero(opened.indexed).tolist() == sorted(now)
            assert opened.documents == len(now)
            lengths = {number: sum(map(len, hit_lists(body).values())) for number, body in now.items()}
            assert {number: int(opened.lengths("body")[number]) for number in now} == lengths


# Numbers and hits in bulk


@pytest.mark.parametrize("numbers", [[0], [255] * 40, [256, 1], [65_535] * 40, [65_536] * 40, [2**32 - 1]])
def test_packed_numbers_are_the_numbers(numbers: list[int]) -> None:
    assert list(packed(numbers)) == numbers == unpacked(packed(numbers)).tolist()


hits = st.lists(
    st.builds(PlainHit, st.integers(0, 6000), st.integers(-1, 6), st.booleans()),
    unique_by=lambda hit: hit.position,
).map(sorted)
lists = st.lists(hits.map(lambda found: encode(found) if found else b""), max_size=8)


@given(lists)
def test_hit_lists_flattened_at_once_are_those_decoded_one_by_one(values: list[bytes]) -> None:
    starts, *columns = (column.tolist() for column in Values.of(values).flat())

    all_hits = list(map(PlainHit._make, zip(*columns, strict=True)))
    by_value = [all_hits[start:end] for start, end in pairwise(starts)]
    assert by_value == [HITS.decode_hits(value) for value in values]


@given(lists, st.data())
def test_some_values_are_those_at_their_places(values: list[bytes], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.sampled_from(range(len(values))), max_size=9)) if values else []

    some, chosen = Values.of(values).some(places), [values[place] for place in places]

    assert list(some) == chosen
    assert [h.tolist() for h in some.flat()] == [h.tolist() for h in Values.of(chosen).flat()]


@given(st.lists(lists, max_size=3))
def test_joint_values_are_one_behind_the_other(parts: list[list[bytes]]) -> None:
    joint = Values.joint([Values.of(part) for part in parts])

    assert list(joint) == [value for part in parts for value in part]


@pytest.mark.slow
@given(lists.filter(all))
def test_values_survive_a_pickle(values: list[bytes]) -> None:
    assert list(pickle.loads(pickle.dumps(Values.of(values), 3))) == values


# One commit


def test_a_term_that_nobody_has_gives_empty_arrays(tmp_path: Path) -> None:
    opened = reading(filled(tmp_path, {1: "red giant"}))

    for name in ("body", "title", "anchor", "cited", "server"):
        posted = opened.posted(name, "zebra")
        assert (len(posted.pages), len(posted.counts), len(posted.values)) == (0, 0, 0)
        assert [array.tolist() for array in posted.values.flat()] == [[0], [], [], []]
        assert opened.frequency(name, "zebra") == 0


def test_a_frequency_is_how_many_documents_have_the_term(tmp_path: Path) -> None:
    opened = reading(filled(tmp_path, {1: "red", 2: "red red"}, {3: "red", 4: "blue"}))

    assert opened.frequency("body", "red") == 3


def test_terms_that_begin_so_come_in_order(tmp_path: Path) -> None:
    opened = reading(filled(tmp_path, {1: "gene genome étude"}, {2: "gene genus gent zebra"}))

    assert opened.frequencies("body", "et") == [(term, 1) for term in terms("étude")]
    assert opened.frequencies("body", "x") == []
    assert opened.frequencies("anchor", "gen") == []
    assert opened.frequencies("body", "gen") == [("gene", 2), ("genom", 1), ("gent", 1), ("genus", 1)]


def test_pages_are_found_by_their_server_once_fetched_or_not(tmp_path: Path) -> None:
    engine = WhooshEngine(tmp_path, "identity")
    engine.commit(
        [], [Indexable(document(1), text("red")), Indexable(document(2, "http://b.example"), text("red"))], 1
    )
    linked = [Anchored(n, f"{SERVER}/page{n}", SERVER, (("red", 1),)) for n in (1, 7)]
    engine.commit_anchors([], linked, 1)
    opened = reading(tmp_path)

    assert sorted(opened.posted("server", SERVER).pages.tolist()) == [1, 7]
    assert list(opened.servers) == [SERVER, "http://b.example"]
    assert opened.size == 8
    assert np.flatnonzero(opened.indexed).tolist() == [1, 2]


def test_posting_lists_are_kept_until_others_need_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "CACHE_BYTES", 500)  # a short list takes some 220
    opened = reading(filled(tmp_path, {1: "red giant star"}))
    first = opened.posted("body", "red")

    assert opened.posted("body", "red") is first
    for term in ("giant", "star"):
        opened.posted("body", term)

    assert opened.posted("body", "red") is not first


# The newest commit


def test_nothing_indexed_is_no_reading(tmp_path: Path) -> None:
    assert Live(tmp_path).reading() is None
    assert Live(filled(tmp_path, {1: "red"}, {1: None})).reading() is None


def test_a_commit_of_either_index_is_a_new_reading(tmp_path: Path) -> None:
    live = Live(filled(tmp_path, {1: "red"}))
    first = live.reading()
    assert live.reading() is first

    engine = WhooshEngine(tmp_path, "identity")
    engine.commit([], [Indexable(document(2), text("red"))], 2)
    second = live.reading()
    engine.commit_anchors([], [Anchored(5, "http://b.example/", "http://b.example", (("blue", 1),))], 2)
    third = live.reading()

    assert first and second and third
    assert len({str(opened.generation) for opened in (first, second, third)}) == 3
    assert first.posted("body", "red").pages.tolist() == [1]
    assert sorted(second.posted("body", "red").pages.tolist()) == [1, 2]
    assert third.posted("anchor", "blue").pages.tolist() == [5]


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(
    st.lists(
        st.dictionaries(st.integers(1, 8), st.sampled_from([None, "red", "red blue", "blue"]), min_size=1),
        min_size=1,
        max_size=5,
    )
)
def test_who_reads_through_all_commits_finds_what_a_newcomer_finds(
    commits: list[dict[int, str | None]],
) -> None:
    with TemporaryDirectory() as temporary:
        folder, live = Path(temporary), Live(Path(temporary))
        for commit in commits:
            filled(folder, commit)
            old, new = live.reading(), Live(folder).reading()
            assert (old is None) == (new is None)
            for term in ("red", "blue") if old and new else ():
                assert as_found(old.posted("body", term)) == as_found(new.posted("body", term))


def test_who_looks_for_commits_now_and_then_sees_them_now_and_then(tmp_path: Path) -> None:
    live = Live(filled(tmp_path, {1: "red"}), fresh_seconds=3600)
    first = live.reading()
    filled(tmp_path, {2: "red"})

    assert live.reading() is first
    assert Live(tmp_path).reading() is not first


def test_without_readable_anchors_there_are_answers_without_anchors(tmp_path: Path) -> None:
    filled(tmp_path, {1: "red"})
    (toc,) = (tmp_path / "anchors").glob("*.toc")
    toc.write_bytes(b"torn")

    opened = reading(tmp_path)

    assert opened.posted("body", "red").pages.tolist() == [1]
    assert opened.posted("anchor", "red").pages.tolist() == []


def test_a_damaged_index_cannot_be_read_and_says_what_to_do_but_who_reads_goes_on(tmp_path: Path) -> None:
    live = Live(filled(tmp_path, {1: "red"}))
    first = live.reading()
    (toc,) = (tmp_path / "index").glob("*.toc")
    toc.write_bytes(b"torn")

    assert first is not None and live.reading() is first
    with pytest.raises(Unavailable, match="reindex"):
        Live(tmp_path).reading()


@pytest.mark.parametrize("name", ["index", "anchors"])
def test_no_search_is_answered_from_a_segment_with_a_flipped_bit(tmp_path: Path, name: str) -> None:
    filled(tmp_path, {number: f"red giant word{number}" for number in range(1, 40)})
    engine = WhooshEngine(tmp_path, "identity")
    engine.commit_anchors({1}, [Anchored(1, "http://a.example/", "http://a.example", (("red giant", 1),))], 1)
    engine.close()
    assert reading(tmp_path).posted("anchor", "red").pages.tolist() == [1]
    (segment,) = (tmp_path / name).glob("*.seg")
    data = segment.read_bytes()
    for place in range(0, len(data), len(data) // 50):
        segment.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])

        if name == "index":
            with pytest.raises(Unavailable, match=r"is not what was written.*`webcrawler reindex`"):
                Live(tmp_path).reading()
        else:  # an answer is worth more than the best answer
            assert reading(tmp_path).posted("anchor", "red").pages.tolist() == []


def test_each_segment_is_verified_once_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path, {1: "red"})
    reading(tmp_path)
    verified = list[Path]()
    monkeypatch.setattr(files, "_checksum", lambda path: verified.append(path) or 0)

    reading(tmp_path)

    assert verified == []


# By document


def test_what_a_document_is_about_is_read_by_its_page_number(tmp_path: Path) -> None:
    """Whatever was replaced, deleted and merged; pages that are not there have nothing."""
    steps = {1: "red giant red", 2: "the dwarf"}, {3: "star", 2: None}, {1: "blue giant"}

    for optimize in (False, True):
        found = reading(filled(tmp_path / str(optimize), *steps, optimize=optimize))

        assert found.vectors([3, 1, 2, 0]) == [{"star": 1}, {"blue": 1, "giant": 1}, {}, {}]
        assert [len(hits) for hits in found.sections([3, 1, 2])] == [0, 0, 0]


def test_a_vector_is_of_the_beginning_of_title_and_main_content() -> None:
    title, body = (field(text, "en").spelled for text in ("Red giants", "a giant " + "Dwarf dwarf " * 300))
    made = vector(title, body, 500, "en")

    assert list(made) == ["red", "giant", "dwarf"]
    assert made["giant"] == 2
    assert made["dwarf"] == 498  # of the first 500 words


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=9).filter(lambda term: "\n" not in term), st.integers(1, 400)
    )
)
def test_vectors_survive_their_encoding(made: dict[str, int]) -> None:
    """Counts up to 255."""
    assert decode_vector(encode_vector(made)) == {term: min(count, 255) for term, count in made.items()}
