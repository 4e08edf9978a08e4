"""Main content, and what stands around it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webcrawler.records import Section, Text
from webcrawler.text import content


def page(body: str, **more: object) -> Text:
    return Text("", "", "", "", body)._replace(**more)  # type: ignore[arg-type]


def test_a_text_without_anything_around_it_stays_as_it_is() -> None:
    assert content.split(page("all of it")) == (page("all of it"), "")


def test_spans_around_the_main_content_leave_it() -> None:
    main, around = content.split(page("menu\nwords of¶ it\nfooter\n", around=((0, 5), (13, 14), (18, 25))))

    assert main.body.split() == ["words", "of", "it"]
    assert around == "menu\n\n¶\nfooter\n"


def test_a_section_outside_the_main_content_starts_where_that_goes_on() -> None:
    around, sections = ((0, 5), (10, 16)), (Section(2, "a", ""), Section(12, "b", ""))

    main, _ = content.split(page("menu\nfirst\naside\nsecond", around=around, sections=sections))

    assert [main.body[section.start :].split()[0] for section in main.sections] == ["first", "second"]


@given(st.data(), st.text())
def test_emphasis_and_sections_stay_with_their_words(data: st.DataObject, text: str) -> None:
    offsets = st.integers(0, len(text))
    edges = sorted(data.draw(st.sets(offsets, max_size=6)))
    around = tuple(zip(edges[::2], edges[1::2], strict=False))
    inside = [n for n in range(len(text)) if not any(start <= n < end for start, end in around)]
    found = data.draw(st.lists(st.sampled_from(inside))) if inside else []
    sections = tuple(Section(offset, "", "") for offset in sorted(found))
    emphasis = tuple((offset, offset + 1, 1) for offset in found)

    main, rest = content.split(page(text, around=around, sections=sections, emphasis=emphasis))

    assert [main.body[one.start] for one in main.sections] == [text[one.start] for one in sections]
    assert [main.body[start:end] for start, end, _ in main.emphasis] == [text[n] for n in found]
    assert len(main.body) + len(rest) >= len(text)
