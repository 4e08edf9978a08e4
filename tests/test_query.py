"""The query language: what a person may type, and what it means."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from meanings import meaning as meaning_of

from webcrawler.text import Lexicon
from webcrawler.text.lexicon import LEAST_TELLING
from webcrawler.text.query import MAX_CHARACTERS, MAX_WORDS, QueryTerm, expanded, other_reading, parse
from webcrawler.text.query.nodes import (
    NOTHING,
    AllOf,
    AnyOf,
    Changed,
    Is,
    Lang,
    Link,
    Not,
    Phrase,
    Prefix,
    Site,
    Word,
    leaves,
)
from webcrawler.text.query.words import MAX_DEPTH, MAX_WITHIN

LANGUAGE = Path(__file__).parent.parent / "docs" / "reference" / "query-language.md"


NODES = [
    ("genomes", Word("genom")),
    ("molecular biology", AnyOf((Word("molecular"), Word("biolog")))),
    ("+genome -yeast", AllOf((Word("genom"), Not(Word("yeast"))))),
    ('"guide to yeast"', Phrase(("guid", "to", "yeast"))),
    ('"dna repair"~5', Phrase(("dna", "repair"), within=5)),
    ("title:dna", Word("dna", "title")),
    ("Genom*", Prefix("genom")),
    ("site:Example.org", Site("example.org")),
    ("changed:7D", Changed("7d")),
    ("lang:DE-at", Lang("de")),
    ("is:Uncrawled", Is("uncrawled")),
    ("changed:>=2026-11-01", Changed(">=2026-11-01")),
    ("changed:2026-11-01..2026-11-20", Changed("2026-11-01..2026-11-20")),
    ("link:HTTP://A.test:80/x#top", Link("http://a.test/x")),
    ("", NOTHING),
]


@pytest.mark.parametrize(
    ("text", "are_words"),
    [
        ("METHODS AND USES OF BREAD OR SALMON", True),
        ("YEAST AND FLOUR NOT SALT WATER", True),
        ("FISH AND CHIPS RECIPE", True),
        ("YEAST AND FLOUR", False),
        ("YEAST FLOUR SALT WATER", False),  # nothing to decide
        ("METHODS AND USES of BREAD", False),
        ('"SALMON RIVER" AND BREAD YEAST FLOUR', False),
        ("“SALMON RIVER” AND BREAD YEAST FLOUR", False),
        ("(SALMON OR TROUT) AND RIVER FISH LAKE", False),
        ("+SALMON OR TROUT RIVER FISH LAKE", False),
        ("BLOOD-BRAIN BARRIER AND DRUG TRANSPORT", True),
    ],
)
def test_operators_of_a_sentence_in_capitals_are_words(text: str, are_words: bool) -> None:
    query = parse(text)

    assert query.capitals_are_words is are_words
    if are_words:
        assert query.root == parse(text.lower()).root


@pytest.mark.parametrize(("text", "node"), NODES)
def test_query_is_this_tree(text: str, node: object) -> None:
    assert parse(text).root == node


MEANINGS = [
    # plain words are welcome, each by itself; punctuation within one is a space
    ("molecular biology dna", "molecular OR biology OR dna"),
    ("genome,yeast", "genome OR yeast"),
    ("genome genome", "genome"),
    ("the cat", "cat"),  # function words say nothing
    ("cat or dog", "cat OR dog"),  # not an operator, but a function word
    ("to be or not to be", '"to" OR "be" OR "or" OR "not"'),  # unless there is nothing else
    ("the who site:a.test", '+site:a.test +"the" OR "who"'),
    ("+the cat", '"the"'),  # or they are demanded
    ('"The Who" album', '"The Who" OR album'),
    # signs; where a word is demanded, the plain ones only add to the relevance
    ("+genome yeast", "genome"),
    ("+genome +yeast -cat", "+genome +yeast -cat"),
    ("genome - yeast", "genome OR yeast"),  # a lone sign is nothing
    ("git --amend ++x +-y", "git OR amend OR x OR y"),  # nor are two: somebody pasted a command
    ("cat -e-mail", '+cat -"e mail"'),
    ("+e-mail", '"e mail"'),
    # phrases; nothing is skipped
    ('"the guide to yeast"', '"the guide to yeast"'),
    ("+state-of-the-art", '"state of the art"'),
    ('+"double helix" dna', '"double helix"'),
    ('double"helix"', "double OR helix"),
    ("“double helix”", '"double helix"'),
    ('"cat -dog OR (x)"', '"cat dog OR x"'),  # within a phrase everything is a word
    # within some words of each other, in any order
    ('"a1 b1 c1"~5', '"a1 b1 c1"~5'),
    ("dna~5 repair cat", '"dna repair"~5 OR cat'),
    ("dna~5 the repair", '"dna repair"~5'),
    ("a1~2 b1~9 c1 d1", '"a1 b1 c1"~9 OR d1'),
    ("-title:dna~5 repair cat", '+cat -title:"dna repair"~5'),
    ("dna~0 repair", '"dna repair"'),
    ("dna~5 dna", "dna"),
    ("dna~5", "dna OR 5"),  # nothing to join
    ("dna~5 +repair", "repair"),
    ("~/.bashrc", "bashrc"),
    # OR and AND; AND binds tighter, and demands what it joins
    ("cat AND dog fish", "+cat +dog"),
    ("cat AND dog OR fish", "cat AND dog OR fish"),
    ("cat AND e-mail", '+cat +"e mail"'),
    ("+cat OR dog fish", "cat OR dog"),
    ("+cat OR +dog", "cat OR dog"),
    ("site:a.test cat OR dog fish", "+site:a.test +cat OR dog OR fish"),
    ("cat OR -dog", "cat OR -dog"),
    ("OR cat AND OR dog OR", "+cat +dog"),  # operators without a partner are nothing
    # NOT
    ("cat NOT dog", "+cat -dog"),
    ("cat AND NOT dog", "+cat -dog"),
    ("cat NOT NOT NOT -dog", "+cat -dog"),
    ("cat NOT OR dog NOT", "cat OR dog"),
    # parentheses
    ("+(cat OR dog) -(fish OR bird)", "+cat OR dog -(fish OR bird)"),
    ("(cat dog) fish", "cat OR dog OR fish"),
    ("(+cat +dog) OR fish", "cat AND dog OR fish"),
    ("cat AND (dog OR fish) OR bird", "(+cat +dog OR fish) OR bird"),
    ("cat -(-(dog))", "dog"),
    ("f(x) print()", "f OR x OR print"),
    # never closed, never opened
    ("cat) dog (fish", "cat OR dog OR fish"),
    ('cat "double helix', 'cat OR "double helix"'),
    # fields restrict, so they are demanded
    ("title:dna cat", "title:dna"),
    ("TITLE:dna", "title:dna"),
    ("cat -title:dna", "+cat -title:dna"),
    ('title:"double helix"', 'title:"double helix"'),
    ("title:e-mail", 'title:"e mail"'),
    ('title:(dna OR "double helix" -cat)', '+title:dna OR title:"double helix" -title:cat'),
    ("title:(a1~5 b1)", 'title:"a1 b1"~5'),
    ("body:cat path:dog", "body OR cat OR path OR dog"),  # there are no such fields
    ("cat title:", "cat OR title"),  # a field of nothing is a word
    # sites
    ("cat site:a.test", "+site:a.test +cat"),
    ("cat -site:a.test", "+cat -site:a.test"),
    ("site:http://User@A.test/", "site:a.test"),
    ("site:*.a.test.", "site:a.test"),
    ("site:https://a.test:8080/", "site:a.test:8080"),
    ("site:[::1]:8080", "site:[::1]:8080"),
    ("site:bücher.test", "site:xn--bcher-kva.test"),
    ("site:(a.test OR b.test)", "site:a.test OR site:b.test"),
    ('site:"a.test"', "site:a.test"),
    ("(site:a.test OR title:dna) cat", "site:a.test OR title:dna"),  # fields only: demanded as each would be
    # links
    ("(link:http://a.test/f(x)) cat", '+link:"http://a.test/f(x)" +cat'),
    ("dna changed:12h", "+changed:12h +dna"),
    ("dna -changed:<2026-11-01", "+dna -changed:<2026-11-01"),
    ("dna after:2026-11-02 before:2027", "+changed:>=2026-11-02 +changed:<2027-01-01 +dna"),
    ("before:2026-12", "changed:<2026-12-01"),
    ("dna -lang:de", "+dna -lang:de"),
    ("dna lang:de OR lang:fr", "+lang:de OR lang:fr +dna"),
    ("dna is:crawled", "+is:crawled +dna"),
    ("link:a.test", 'link:"http://a.test/" OR link:"https://a.test/"'),
    # prefixes
    ("title:GEN*", "title:gen*"),
    ("-gen* cat", "+cat -gen*"),
    ("e-ma* gen*x", "e OR ma OR gen OR x"),  # no prefix of one word
    ('"gen* dna"', '"gen dna"'),
]


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_query_means_this(text: str, meaning: str) -> None:
    assert meaning_of(parse(text).root) == meaning


def test_words_to_weigh_are_those_not_excluded_in_the_order_typed_with_repeats() -> None:
    query = parse('+Yeast genomes -cat title:dna "the double helix" site:a.test NOT (x -y) gen* yeast')

    assert [one.term for one in query.terms] == ["yeast", "genom", "dna", "doubl", "helix", "y", "yeast"]
    assert [one.spelled for one in query.terms[:2]] == ["Yeast", "genomes"]
    assert all(one.weight == 1 and not one.added for one in query.terms)


SKIPPED = [
    ("appropriate uses for SQLite", ["appropri", "use", "sqlite"]),
    ("to be or not to be", ["to", "be", "or", "not", "to", "be"]),
    ('"the helix" -of', ["helix"]),
]


@pytest.mark.parametrize(("text", "counted"), SKIPPED)
def test_function_words_do_not_count_unless_there_are_no_others(text: str, counted: list[str]) -> None:
    assert [one.term for one in parse(text).terms] == counted


# Names in code


IDENTIFIERS = [
    ("generate_password_hash", ["generate password hash"]),
    ("std::unordered_map emplace", ["std unordered map"]),
    ("node->first_child().next", ["node first child"]),  # parentheses end it
    ("Vec::with_capacity", ["Vec with capacity"]),
    ("a1.b1, (c1_d1 OR e1)", ["a1 b1", "c1 d1"]),
    ("how does os.path.join() work?", ["os path join"]),
    ("std::vector<std::string>", ["std vector"]),  # the first of a token
    ("key=a1_b1 a1_b1", ["a1 b1"]),  # each once
    ("__init__ _x x_ print() end. x.y", ["x y"]),  # the others are one word
    ("3.11.4 10_000 v3.11", ["3 11 4", "10 000", "v3 11"]),  # numbers in their order
    ("192.168.0.0/16 978-3-16-148410-0", ["192 168 0 0 16", "978 3 16 148410 0"]),
    ("0-306-40615-X 12:30, 1,000", ["0 306 40615 X", "12 30", "1 000"]),
    # none: English, what is demanded as a phrase already, what is excluded
    ("e-mail can't and/or f(x) covid-19 5-star", []),
    ('"a1_b1" +a1_b1 title:a1_b1', []),
    ("cat -a1_b1 NOT (a1.b1)", []),
    ("_".join(f"a{number}" for number in range(MAX_WORDS + 1)), []),  # more words than may be read
]


@pytest.mark.parametrize(("text", "names"), IDENTIFIERS)
def test_names_in_code_among_plain_words_are_kept_as_phrases(text: str, names: list[str]) -> None:
    assert [" ".join(one.spelled) for one in parse(text).identifiers] == names


def test_numbers_in_a_name_say_little_by_themselves() -> None:
    assert [one.telling for one in parse("perl 5.36.0").terms] == [
        1.0,
        LEAST_TELLING,
        LEAST_TELLING,
        LEAST_TELLING,
    ]


@pytest.mark.parametrize(
    "text", ["Trag{}werk*", '"Trag{}werk im Titel"', "title:Trag{}werk -Netz{}gerät", "OR{}"]
)
@pytest.mark.parametrize("unseen", ["\u00ad", "\u2060", "\u200d", "\ufeff", "\u200c"])
def test_what_nobody_sees_in_a_query_as_pasted_changes_nothing(text: str, unseen: str) -> None:
    assert parse(text.replace("{}", unseen)).root == parse(text.replace("{}", "")).root


def test_name_in_code_is_read_as_its_words_too() -> None:
    query = parse("a1_b1")

    assert meaning_of(query.root) == "a1 OR b1"
    assert query.identifiers == (Phrase(("a1", "b1")),)


# Options


GCC = Lexicon(holds={"-wall", "-std", "--onto"}.__contains__)
DASHES = [
    ("gcc -Wall", 'gcc OR "-Wall"', "gcc NOT Wall"),
    ("gcc -Wextra", "+gcc -Wextra", 'gcc "-Wextra"'),
    ("-std=c99", '"-std" OR c99', "NOT std=c99"),
    ("(-Wall OR gcc) -Wextra", '+"-Wall" OR gcc -Wextra', '(NOT Wall OR gcc) "-Wextra"'),
    ("gcc -std*", "+gcc -std*", 'gcc "-std*"'),  # a prefix is no option
    ("-Wall -Wall", '"-Wall"', "NOT Wall NOT Wall"),
    ("git --onto", 'git OR "--onto"', ""),  # no operator anyway
    # these always leave out
    ("gcc NOT -Wall", "+gcc -Wall", ""),
    ('gcc -"-Wall"', '+gcc -"-Wall"', ""),
    ("gcc -title:Wall -site:std", "+gcc -title:Wall -site:std", ""),
    ("gcc -(Wall)", "+gcc -Wall", ""),
]


@pytest.mark.parametrize(("text", "meaning", "other"), DASHES)
def test_a_word_with_a_dash_is_an_option_where_the_collection_holds_it_as_one(
    text: str, meaning: str, other: str
) -> None:
    query = parse(text, lexicon=GCC)

    assert meaning_of(query.root) == meaning
    assert other_reading(query.text, query.dashed) == other


def test_an_option_with_its_value_is_a_name_in_code() -> None:
    assert parse("-std=c99", lexicon=GCC).identifiers == (Phrase(("-std", "c99")),)


# What was left out is said


NO_DAYS = "changed: needs days, such as changed:7d or changed:>2026-11-01, not "
NOTES = [
    ("", "the query is empty: type a word to look for"),
    (" \t\n", "the query is empty: type a word to look for"),
    ("+-!?", "the query has no word to look for: +-!?"),
    ("-cat", "the query only says what to leave out: add a word to look for"),
    ("-cat OR -dog", "the query only says what to leave out: add a word to look for"),
    ("x" * (MAX_CHARACTERS + 1), "only the first 2,000 characters were read"),
    ("cat " * (MAX_WORDS + 1), "only the first 50 words were read"),
    (f'"{"cat " * 60}"', "only the first 50 words were read"),
    ("ab* " * 60, "only the first 50 words were read"),
    ("site:a.test " * 60, "only the first 50 words were read"),
    ("(" * 9 + "cat" + ")" * 9, "parentheses deeper than 8 were not looked at"),
    ("(cat", "the parentheses do not pair up"),
    ("cat)", "the parentheses do not pair up"),
    ('"cat', "a quotation mark is never closed: read to the end"),
    ("cat~9999999999 dog", "~999999999 was read as ~1000"),
    ("x* cat", "x* was read as a word: a prefix has at least 2 letters"),
    ("changed:2026-13-01 cat", f"{NO_DAYS}2026-13-01"),
    ("changed:soon cat", f"{NO_DAYS}soon"),
    ("changed:>7d cat", f"{NO_DAYS}>7d"),
    ("after:7d cat", "after: needs a day, a month or a year, such as after:2026-11-01, not 7d"),
    ("before:2026-13 cat", "before: needs a day, a month or a year, such as before:2026-11-01, not 2026-13"),
    ("lang:german cat", "lang: needs the code of a language, such as lang:de, not german"),
    ("is:nice cat", "is: needs crawled or uncrawled, not nice"),
    ("link:http://[ cat", "link: needs a URL, such as link:http://example.org/, not http://["),
    ("site:http://User@A.test/x?y", "site: looks at hosts only: x?y was left out"),
    ("site:% cat", "site: needs a host, such as site:example.org, not %"),
]


@pytest.mark.parametrize(("text", "note"), NOTES)
def test_what_is_not_read_or_missing_gets_one_line(text: str, note: str) -> None:
    assert note in parse(text).notes
    assert all(re.fullmatch(r"[^\n]{1,120}", line) for line in parse(text).notes)


AS_IT_STANDS = [text for text, _ in MEANINGS if "(fish" not in text and text[4:] != '"double helix']


@pytest.mark.parametrize("text", AS_IT_STANDS)
def test_query_that_is_read_as_it_stands_has_no_note(text: str) -> None:
    assert not parse(text).notes


@pytest.mark.parametrize("depth", [1, MAX_DEPTH, MAX_DEPTH + 1, 900])
def test_parentheses_that_are_too_deep_are_left_out_and_their_words_are_read(depth: int) -> None:
    query = parse("(" * depth + "+cat" + ")" * depth + " dog")

    assert meaning_of(query.root) == "cat OR dog"
    assert bool(query.notes) == (depth > MAX_DEPTH)


# Adding words


def test_added_words_are_weighed_less_and_may_match_where_plain_words_may() -> None:
    query = expanded(parse("cat site:a.test -dog"), [QueryTerm("felin", "feline", 0.3)])

    assert meaning_of(query.root) == "+site:a.test +cat OR feline -dog"
    assert query.terms == (QueryTerm("cat", "cat"), QueryTerm("felin", "feline", 0.3, added=True))


@pytest.mark.parametrize("text", ["+cat", "title:cat", "cat AND cats", '+"big cat" fish', "", "-cat"])
def test_added_words_do_not_match_where_a_word_is_demanded(text: str) -> None:
    assert expanded(parse(text), [QueryTerm("felin", "feline", 0.3)]).root == parse(text).root


def test_word_that_was_typed_is_not_added() -> None:
    assert expanded(parse("cats"), [QueryTerm("cat", "cat", 0.3)]) == parse("cats")


@pytest.mark.parametrize("text", ["cat " * 60, "the cat", "+the cat", "to be or not to be"])
def test_adding_one_by_one_is_adding_all(text: str) -> None:
    one, two = QueryTerm("felin", "feline", 0.3, True), QueryTerm("kitten", "kitten", 0.2, True)

    assert expanded(expanded(parse(text), [one]), [two]) == expanded(parse(text), [one, two])


# What holds for any text

_PIECES = st.sampled_from(
    '" + - ~5 ~ * ( ( ) ) : ge* e-mail site: title: link: a.test http://a.test/x the cat lenses " OR " AND'
    " NOT \0 é 日本 ' ’ “ \ud800 \u200f ﷺ İ ß ῷ / \\ % [".replace('" OR "', "OR").split(" ")
    + [" ", " OR ", " AND ", " NOT "] * 3
)
ANY_TEXT = st.text(max_size=300) | st.lists(_PIECES, max_size=60).map("".join)


@given(ANY_TEXT)
def test_any_text_is_a_query(text: str) -> None:
    query = parse(text)

    assert query == parse(text)
    assert query.root != NOTHING or query.notes
    assert query.text.encode() or not text
    assert all(one.term and one.spelled for one in query.terms)


@given(ANY_TEXT)
def test_the_other_reading_of_any_text_is_read_without_dashes(text: str) -> None:
    query = parse(text, lexicon=Lexicon(holds=lambda term: len(term) % 2 == 0))

    other = parse(other_reading(query.text, query.dashed), lexicon=query.lexicon)

    assert len(other.dashed) <= len(query.dashed)


@given(ANY_TEXT)
def test_tree_as_text_is_that_tree_again(text: str) -> None:
    root = parse(text).root

    assert parse(meaning_of(root)).root == root


@given(st.lists(_PIECES, max_size=1500).map(" ".join))
def test_no_text_makes_a_large_tree(text: str) -> None:
    query = parse(text)

    found = [leaf for leaf, _ in leaves(query.root)]
    assert len(query.text) <= MAX_CHARACTERS
    assert len(query.terms) <= MAX_WORDS
    assert sum(len(leaf.terms) if isinstance(leaf, Phrase) else 1 for leaf in found) <= MAX_WORDS + 1
    assert sum(len(one.terms) for one in query.identifiers) <= MAX_CHARACTERS
    assert all(leaf.within <= MAX_WITHIN for leaf in found if isinstance(leaf, Phrase))
    assert _depth(query.root) <= 4 * MAX_DEPTH


def _depth(node: object) -> int:
    if isinstance(node, AllOf | AnyOf):
        return 1 + max(map(_depth, node.nodes), default=0)
    return 1 + _depth(node.node) if isinstance(node, Not) else 1


ENDLESS = ["(" * 5000 + "cat", *(sign * 5000 for sign in (")", '"', "-", "NOT ", "~")), "x " * 500_000]


@pytest.mark.parametrize("text", ENDLESS)
def test_text_without_end_is_a_query(text: str) -> None:
    assert parse(text).notes


def test_bytes_that_are_no_utf8_do_not_reach_the_answer() -> None:
    assert parse("cat \udcff").text == "cat ?"


# Changes

NOW, DAY = 1_795_000_000.0, 86_400.0  # 2026-11-18T11:06:40
FIRST, SECOND = 1_793_491_200.0, 1_793_577_600.0  # the first of November begins and ends


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("7d", NOW - 7 * DAY, math.inf),
        ("12h", NOW - DAY / 2, math.inf),
        ("2026-11-01", FIRST, SECOND),
        (">2026-11-01", SECOND, math.inf),
        (">=2026-11-01", FIRST, math.inf),
        ("<2026-11-01", 0, FIRST),
        ("<=2026-11-01", 0, SECOND),
        ("2026-11-01..2026-11-03", FIRST, FIRST + 3 * DAY),
    ],
)
def test_days_of_changes_are_whole_days_of_utc(text: str, since: float, until: float) -> None:
    assert Changed(text).times(NOW) == (since, until)


# Sites


COVERED = [
    ("a.test", "http://a.test", True),
    ("a.test", "https://sub.a.test:8080", True),
    ("a.test", "http://ba.test", False),  # only whole labels
    ("test", "http://a.test", True),
    ("a.test:8080", "http://a.test:8080", True),
    ("a.test:8080", "http://sub.a.test:8080", False),
    ("a.test:8080", "http://a.test", False),
    ("a.test:80", "http://a.test", True),
    ("a.test:80", "https://a.test", False),
    ("a.test:443", "https://a.test", True),
    ("[::1]", "http://[::1]:8080", True),
    ("[::1]:8080", "http://[::1]:8080", True),
]


@pytest.mark.parametrize(("host", "server", "covered"), COVERED)
def test_site_is_a_host_and_those_below_it_or_one_server(host: str, server: str, covered: bool) -> None:
    assert Site(host).covers(server) == covered


# The page for people


def _examples() -> list[tuple[str, str]]:
    return re.findall(r"(?m)^\| `([^`]+)` \|.*\| `([^`]+)` \|$", LANGUAGE.read_text("utf-8"))


@pytest.mark.parametrize(("text", "meaning"), _examples())
def test_each_example_of_the_documentation_means_what_it_says(text: str, meaning: str) -> None:
    assert meaning_of(parse(text).root) == meaning
    assert not parse(text).notes


def test_documentation_has_examples() -> None:
    assert len(_examples()) > 15
