"""Search forms: which ones a crawl may fill in, and which word is worth asking next."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest
from hiddenweb import Index, library, oracle
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.crawl.run.forms import (
    PATIENCE,
    REPEATED,
    Evidence,
    Form,
    Pages,
    expected_new,
    past,
    shown,
    unseen,
)
from webcrawler.parsing import parse

BASE = "http://a.example/dir/page?x=1"


def blanks(html: str, forms: bool = True) -> list[str]:
    """What the search forms of a page ask for when nothing is typed in."""
    page = parse(html.encode(), BASE, "text/html", forms=forms)
    return [link.url for link in page.links if link.rel == "form"]


FILLED = {
    "the least there is": ("<form><input name=q></form>", "http://a.example/dir/page?q="),
    "a search field": ("<form action=/find><input type=search name=q></form>", "http://a.example/find?q="),
    "what the action asks for is replaced": (
        '<form action="/find?old=1#top"><input name=q></form>',
        "http://a.example/find?q=",
    ),
    "another server": (
        "<form action=//b.example/s method=GET><input name=q></form>",
        "http://b.example/s?q=",
    ),
    "hidden fields and the first button": (
        "<form><input type=hidden name=in value=all><input name=q>"
        "<button name=go value=1>Go</button><button name=lucky>I feel lucky</button></form>",
        "http://a.example/dir/page?in=all&go=1&q=",
    ),
    "what is chosen and ticked": (
        "<form><select name=by><option>title<option selected>all words</select><select name=n>"
        "<option value=10>ten</select><input type=checkbox name=old>"
        "<input type=radio name=r value=2 checked><input name=q></form>",
        "http://a.example/dir/page?by=all+words&n=10&r=2&q=",
    ),
    "an option for any": (
        "<form><select name=in><option value=''>All categories<option>one</select><input name=q></form>",
        "http://a.example/dir/page?in=&q=",
    ),
    "fields that are not sent": (
        "<form><input name=q><input type=reset name=r><input name=off disabled><input></form>",
        "http://a.example/dir/page?q=",
    ),
    "a field that nobody can type into": (
        "<form><input name=site value=us readonly><input name=q></form>",
        "http://a.example/dir/page?site=us&q=",
    ),
    "a base": ("<base href=http://c.example/><form action=s><input name=q></form>", "http://c.example/s?q="),
}


@pytest.mark.parametrize(("html", "blank"), FILLED.values(), ids=FILLED.keys())
def test_form_with_one_text_field_asks_for_a_url(html: str, blank: str) -> None:
    assert blanks(html) == [blank]
    assert Form.read(blank) is not None


LEFT_ALONE = {
    "it posts": "<form method=post><input name=q></form>",
    "a password": "<form><input name=q><input type=password name=p></form>",
    "a file": "<form><input name=q><input type=file name=f></form>",
    "an address for mail": "<form><input type=email name=to></form>",
    "the same in a text field": "<form><input name=user_email></form>",
    "several text fields": "<form><input name=q><input name=author></form>",
    "no text field": "<form><button name=go>Go</button></form>",
    "a long text": "<form><input name=q><textarea name=t></textarea></form>",
    "it subscribes": "<form action=/newsletter/subscribe><input name=q></form>",
    "it deletes": "<form action=/items/delete.php><input name=q></form>",
    "a token of this visit": "<form><input name=q><input type=hidden name=csrf_token value=7></form>",
    "a button that posts": "<form><input name=q><button formmethod=post>Go</button></form>",
    "its owner asks not to follow it": "<form rel=nofollow><input name=q></form>",
    "a script": "<form action='javascript:find()'><input name=q></form>",
    "no name": "<form><input></form>",
    "it is within one that takes somebody in": (
        "<form action=/in method=post><div><form action=/find><input name=q></form></div>"
        "<input type=password name=p></form>"
    ),
    "a name that URLs lack": "<form><input name=utm_source></form>",
    "no form": "<input name=q>",
    "never closed, in a script": "<script>'<form><input name=q></form>'</script>",
}


@pytest.mark.parametrize("html", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_form_that_is_no_plain_search_is_left_alone(html: str) -> None:
    assert blanks(html) == []


def test_forms_are_looked_for_only_when_asked() -> None:
    assert blanks("<form><input name=q></form>", forms=False) == []


def test_form_is_a_link_that_is_not_followed_unless_the_page_links_there_too() -> None:
    form = "<form action=/s><input name=q></form>"
    alone = parse(form.encode(), BASE, forms=True)
    linked = parse(f"<a href='/s?q='>all</a>{form}".encode(), BASE, forms=True)

    assert [(link.rel, link.refused) for link in alone.links] == [("form", "form")]
    assert [(link.rel, link.refused, link.anchor) for link in linked.links] == [("form-and-link", "", "all")]


@given(st.text(alphabet="<>/= \"'formintputselcoa \n", max_size=200))
def test_any_markup_is_read(html: str) -> None:
    blanks(f"<form><input name=q {html}")


FORM = Form.read("http://a.example/s?lang=en&q=")
WORDS = [
    ("http://a.example/s?q=tree", "tree"),
    ("http://a.example/s?lang=en&q=tree&page=2", "tree"),
    ("http://a.example/s?q=gr%C3%B6%C3%9Fe+x", "größe x"),
    ("http://a.example/s?q=", ""),
    ("http://a.example/s?page=2", None),
    ("http://a.example/s", None),
    ("http://a.example/t?q=tree", None),
    ("http://b.example/s?q=tree", None),
]


@pytest.mark.parametrize(("url", "word"), WORDS)
def test_query_is_known_by_its_url(url: str, word: str | None) -> None:
    assert FORM.word_of(url) == word


@given(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20))
def test_word_is_asked_as_it_is(word: str) -> None:
    assert FORM.word_of(FORM.query(word).url) == word


def test_url_that_does_not_end_with_its_text_field_is_no_form() -> None:
    assert Form.read("http://a.example/s?q=&lang=en") is None
    assert Form.read("http://a.example/s") is None


# ---- what queries have brought


def test_new_results_are_told_from_old_ones() -> None:
    # Query 10 shows 3, known before, and brings 11 and 12; query 20 brings 21 beside 12; 30 nothing.
    told = past(np.array([10, 10, 10, 20, 20, 30]), np.array([3, 11, 12, 12, 21, 0]))

    assert told.results.tolist() == [3, 2, 0]
    assert told.hidden.tolist() == [2, 2, 0]
    assert told.new.tolist() == [2, 1, 0]
    assert told.before.tolist() == [0, 2, 3]


def test_hidden_records_are_estimated_by_what_was_caught_twice() -> None:
    # 4 were brought; the second query caught 2 of 4 again: so 4 are half of all, and 2 more have come since.
    told = past(np.array([10] * 4 + [20] * 4), np.array([11, 12, 13, 14, 13, 14, 21, 22]))

    assert unseen(told) == pytest.approx(4 * 4 / 2 - 6)


def test_number_of_results_that_comes_twice_is_all_that_is_shown() -> None:
    queries, results = np.array([10, 10, 20, 20, 30]), np.array([11, 12, 12, 21, 31])

    assert shown(past(queries, results)) == 2
    assert shown(past(queries[:3], results[:3])) == inf


def test_word_that_repeated_records_have_is_worth_less() -> None:
    # Two pages: the first, brought once, has words 0 and 1, the second, brought three times, 1 and 2.
    rows, words, weight = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), REPEATED**2

    gains = expected_new(rows, words, np.array([1, 3]), hidden=100.0)

    assert gains == pytest.approx([100 / (1 + weight), 100.0, 100 * weight / (1 + weight)])


postings = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), unique=True, min_size=1)


@given(postings, st.lists(st.integers(0, 4), min_size=6, max_size=6), st.floats(1, 1e6), st.floats(1, 1e4))
def test_expected_records_are_those_of_the_definition(
    pairs: list[tuple[int, int]], brought: list[int], hidden: float, most: float
) -> None:
    rows, words = np.array(pairs).T
    gains = expected_new(rows, words, np.array(brought), hidden, most, 8)

    weights = [REPEATED ** max(n - 1, 0) for n in brought]
    for word in range(8):
        having = [row for row, other in pairs if other == word]
        new = hidden * sum(weights[row] for row in having) / sum(weights)
        assert gains[word] == pytest.approx(new * min(1.0, most / (len(having) + new)) if having else 0.0)


# ---- the choice


def test_first_word_is_on_most_pages() -> None:
    pages = Pages()
    for number, text in enumerate(("red apple", "green apple", "green pear and apple"), 1):
        pages.add(number, text)

    assert Evidence(pages).next_word() == "apple"


def test_word_is_asked_once_and_function_words_never() -> None:
    pages = Pages()
    pages.add(1, "the apple of the tree")
    evidence = Evidence(pages)
    asked = []
    while word := evidence.next_word():
        asked.append(word)
        evidence.add_vain(word)

    assert sorted(asked) == ["apple", "tree"]


def test_word_of_what_stands_on_most_pages_is_not_asked() -> None:
    pages = Pages()
    for number in range(1, 31):
        pages.add(number, f"imprint {'apple' if number < 9 else 'pear' if number < 12 else number}")

    assert Evidence(pages).next_word() == "apple"


def test_form_is_left_alone_when_queries_bring_nothing_new() -> None:
    pages = Pages()
    evidence = Evidence(pages)
    evidence.add_results(10, "apple", [11, 12])
    for number in range(20, 20 + PATIENCE):
        assert not evidence.is_exhausted
        evidence.add_results(number, f"word{number}", [11])

    assert evidence.is_exhausted


def test_form_is_left_alone_when_queries_bring_no_page() -> None:
    evidence = Evidence(Pages())
    for number in range(PATIENCE):
        assert not evidence.is_exhausted
        evidence.add_vain(f"word{number}")

    assert evidence.is_exhausted


@given(st.randoms(use_true_random=False))
def test_choice_does_not_depend_on_the_order_in_which_pages_are_read(order: random.Random) -> None:
    said = {1: "red apple", 2: "green apple", 11: "green pear", 12: "blue pear sky"}
    said |= {21: "blue sea", 22: "red sea"}
    shown_by = [(10, "apple", [1, 2, 11]), (13, "apple", [12]), (20, "pear", [11, 12, 21, 22])]

    def choice(shuffled: bool) -> tuple[str, list[int]]:
        pages = Pages()
        evidence = Evidence(pages)
        steps = [("page", *one) for one in said.items()] + [("results", *one) for one in shown_by] * 2
        if shuffled:
            order.shuffle(steps)
        for kind, *values in steps:
            (pages.add if kind == "page" else evidence.add_results)(*values)
        word = evidence.next_word()
        having = sum(word in text.split() for text in said.values())
        return str(having), evidence.past.new.tolist()  # ties are broken by the order

    assert choice(True) == choice(False)


@pytest.mark.slow
@pytest.mark.parametrize("pages_of_results", [10, 20])
def test_nine_records_of_ten_take_at_most_twice_the_queries_of_an_oracle(pages_of_results: int) -> None:
    records = library(5000)
    wanted = 0.9 * len(records)
    index = Index(records, pages_of_results)
    best = len(oracle(index.answers(), wanted))

    pages = Pages()
    evidence = Evidence(pages)
    numbers: dict[int, int] = {}
    newest = 0

    def number_of(record: int) -> int:
        nonlocal newest
        if record not in numbers:
            newest += 1
            numbers[record] = newest
            pages.add(newest, " ".join(records[record]))
        return numbers[record]

    for record in range(len(records) - 10, len(records)):
        number_of(record)
    queries = 0
    while len(numbers) < wanted and queries <= 2 * best:
        word = evidence.next_word()
        newest += 1
        queries += 1
        evidence.add_results(newest, word, [number_of(record) for record in index.search(word)])

    assert queries <= 2 * best
