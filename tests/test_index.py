"""Terms, hit lists, and an index that Whoosh itself can search."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_reading import encode
from whoosh.index import FileIndex, create_in
from whoosh.query import And, Phrase, Term
from whoosh.writing import SegmentWriter

from webcrawler.index.hits import MAX_POSITIONS, HitList, PlainHit, anchor_lists, field, pack
from webcrawler.index.schema import index_document, make_schema, url_words
from webcrawler.index.writer import BulkWriter
from webcrawler.records import Document, Section, Text
from webcrawler.text.analysis import MAX_TERM_CHARACTERS, MAX_TOKENS, terms, tokens

HITS = HitList()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Molecular biology", ["molecular", "biolog"]),
        ("running runs RUN", ["run", "run", "run"]),
        ("The cat and the hat", ["cat", "hat"]),  # stop words
        ("I don't what it's", []),  # stop words with an apostrophe
        ("don’t", []),  # typographic apostrophe
        ("Darwin's finches", ["darwin", "finch"]),
        ("'quoted'", ["quot"]),  # an apostrophe outside of a word is none of it
        ("snake_case_name", ["snake", "case", "name"]),
        ("naïve café", ["naiv", "cafe"]),
        ("cafe\u0301", ["cafe"]),  # decomposed accents as well
        ("ﬁle", ["file"]),  # NFKC: ligatures are letters
        ("vitamin C 3.14", ["vitamin", "c", "3", "14"]),
        ("Διδάσκω на русском", ["διδασκω", "на", "русском"]),
        ("", []),
        ("... --- !!!", []),
    ],
)
def test_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_stop_words_keep_their_place() -> None:
    assert tokens("State of the art") == [("state", 1), ("", 0), ("", 0), ("art", 0)]


def test_a_word_of_a_megabyte_is_cut_and_still_found() -> None:
    assert terms("q" * 1_000_000) == ["q" * MAX_TERM_CHARACTERS] == terms("q" * 2_000_000)


def test_what_a_text_is_about_is_told_by_its_first_words() -> None:
    assert len(tokens("word " * (MAX_TOKENS + 5))) == MAX_TOKENS


@pytest.mark.slow
def test_the_last_word_of_the_longest_manual_is_in_the_index() -> None:
    manual = " ".join(f"w{number}" for number in range(120_000)) + " sslbindconf"

    assert decoded(manual)["sslbindconf"] == [PlainHit(120_000, 0, False)]


def test_every_word_is_in_the_index() -> None:
    assert sorted(decoded("To be, or not to be")) == ["be", "not", "or", "to"]
    assert anchor_lists([("the who", 1)]).keys() == {"the", "who"}


@given(st.text())
def test_analysis_never_raises_and_terms_are_short_and_whole(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_CHARACTERS
        assert term.encode().decode() == term


# Hit lists


hits = st.lists(
    st.builds(PlainHit, st.integers(0, MAX_POSITIONS - 1), st.integers(-1, 6), st.booleans()),
    min_size=1,
    unique_by=lambda hit: hit.position,
).map(sorted)


@given(hits)
def test_hits_survive_their_encoding(found: list[PlainHit]) -> None:
    value = encode(found)

    assert HITS.decode_hits(value) == found
    assert HITS.decode_positions(value) == [hit.position for hit in found]
    assert HITS.decode_frequency(value) == len(found)


def test_a_hit_takes_two_bytes_as_in_the_paper() -> None:
    assert len(encode([PlainHit(4095, 6, True)])) == 2


def decoded(value: str | tuple[str, list[tuple[int, int, int]]]) -> dict[str, list[PlainHit]]:
    text, spans = (value, ()) if isinstance(value, str) else value
    return {term: HITS.decode_hits(pack(hits)) for term, hits in field(text, "", spans).terms.items()}


def test_a_hit_has_position_size_and_capital() -> None:
    text = "Cells divide. The <h1>"

    assert decoded((text, [(6, 12, 1)])) == {
        "cell": [PlainHit(0, 0, True)],
        "divid": [PlainHit(1, 1, False)],
        "the": [PlainHit(2, 0, True)],
        "h1": [PlainHit(3, 0, False)],
    }


@pytest.mark.parametrize(
    ("span", "large"),
    [
        ((0, 5, 3), [0]),
        ((0, 10, 3), [0, 1]),
        ((5, 5, 3), []),  # empty
        ((0, 99, 3), [0, 1, 2]),  # past the end
        ((6, 16, 3), [1, 2]),
        ((0, 8, 3), [0]),  # a word that only begins in the span is outside: "be|ta"
        ((8, 11, 3), [1]),  # the word it begins in is inside
    ],
)
def test_spans_make_words_large(span: tuple[int, int, int], large: list[int]) -> None:
    found = decoded(("alpha beta gamma", [span]))

    assert sorted(hit.position for hits in found.values() for hit in hits if hit.size == 3) == large


@given(st.text(), st.lists(st.tuples(st.integers(-3, 90), st.integers(-3, 90), st.integers(-1, 6))))
def test_emphasis_never_moves_a_word(text: str, spans: list[tuple[int, int, int]]) -> None:
    plain, emphasised = decoded(text), decoded((text, spans))

    assert {term: [hit.position for hit in found] for term, found in emphasised.items()} == {
        term: [hit.position for hit in found] for term, found in plain.items()
    }


# The index


def document(number: int, url: str = "http://a.example/") -> Document:
    return Document(number, number, url, "http://a.example", 1.5, 200, "text/html", b"", 3, 0, False, None)


def build(folder: Path, texts: dict[Document, Text], writer: type[SegmentWriter] = BulkWriter) -> FileIndex:
    index = create_in(str(folder), make_schema())
    with writer(index) as adding:
        for one, text in texts.items():
            adding.add_document(**index_document(one, text))
    return index


def with_bodies(bodies: dict[int, str]) -> dict[Document, Text]:
    return {document(number): Text("Title", "", "", "", body) for number, body in bodies.items()}


OF_A_TERM = ("weight", "doc_frequency", "max_weight", "min_id", "max_id", "min_length", "max_length")
BODIES = with_bodies({7: "the human genome project", 3: "project the genome, human", 12: "genome " * 5000})
TEXT = Text(
    *("Title", "", "", "", "menu\nApes\nred hair\nBees¶\nhoney\nfooter words"),
    around=((0, 5), (23, 24), (31, 43)),
    sections=tuple(Section(start, "", "") for start in (0, 5, 19, 37)),
)


def test_main_content_and_what_stands_around_it_are_two_fields() -> None:
    made = index_document(document(1), TEXT)

    assert list(made["around"]) == ["menu", "footer", "word"]
    assert list(made["body"]) == ["ape", "red", "hair", "bee", "honey"]
    assert made["length"] == 5


def test_sections_begin_at_positions_of_the_main_content(tmp_path: Path) -> None:
    with build(tmp_path, {document(1): TEXT}).searcher() as searcher:
        assert HITS.decode_positions(searcher.reader().column_reader("sections")[0]) == [0, 0, 3, 5]
        assert searcher.postings("body", "honey").value_as("positions") == [4]


def test_phrases_match_by_our_positions(tmp_path: Path) -> None:
    with build(tmp_path, BODIES).searcher() as searcher:
        hits = searcher.search(Phrase("body", ["human", "genom", "project"]))

        assert [hit["number"] for hit in hits] == [7]


def test_postings_give_weight_frequency_and_hits(tmp_path: Path) -> None:
    with build(tmp_path, BODIES).searcher() as searcher:
        matcher = searcher.postings("body", "genom")
        matcher.skip_to(2)

        assert matcher.weight() == matcher.value_as("frequency") == 5000
        assert matcher.value_as("hits")[4999] == PlainHit(4999, 0, False)
        assert searcher.doc_frequency("body", "genom") == 3
        assert searcher.reader().column_reader("length")[2] == 5000


def test_the_bulk_writer_writes_what_whoosh_would(tmp_path: Path) -> None:
    """The independent check: the same documents through Whoosh's own pool and codec."""
    bodies = {number: " ".join(f"w{number % k} the cat" for k in range(1, 40)) for number in range(1, 400)}
    texts = with_bodies(bodies)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()

    with build(ours, texts).reader() as mine, build(theirs, texts, SegmentWriter).reader() as stock:
        assert list(mine.all_terms()) == list(stock.all_terms())
        assert list(mine.iter_postings()) == list(stock.iter_postings())
        for field, term in mine.all_terms():
            infos = mine.term_info(field, term), stock.term_info(field, term)
            for what in OF_A_TERM:
                assert len({getattr(info, what)() for info in infos}) == 1, what
        assert list(mine.all_stored_fields()) == list(stock.all_stored_fields())


def test_a_document_is_found_by_server_and_by_the_words_of_its_url(tmp_path: Path) -> None:
    page = document(1, "http://a.example:8080/wiki/Molecular_biology?q=caf%C3%A9")

    with build(tmp_path, {page: Text("", "First\nSecond", "", "", "")}).searcher() as searcher:
        words = [Term("words", word) for word in ("molecular", "biolog", "cafe", "exampl")]
        (hit,) = searcher.search(And([Term("server", "http://a.example"), *words]))
        assert hit["title"] == "First"  # without a title, the first heading
        assert hit["fetched"] == 1.5


def test_url_words_leave_out_the_scheme() -> None:
    assert url_words("https://a.example/b%20c") == "a.example/b c"


def test_no_value_of_a_posting_is_a_pickle(tmp_path: Path) -> None:
    with build(tmp_path, BODIES).reader() as reader:
        values = [reader.postings("body", term).value() for _, term in reader.all_terms() if _ == "body"]

    assert {len(value) for value in values} == {2}
