"""Where a search begins, from what people have: lists, files, the bookmarks that browsers export."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.realtime.examples import MAX_URLS, read_urls, urls_of

EXPORTED = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE><H1>Bookmarks Menu</H1>
<DL><p>
    <DT><H3 ADD_DATE="1">Animals</H3>
    <DL><p>
        <DT><A HREF="http://quokka.test/" ADD_DATE="1" ICON="data:image/png;base64,AA">Quokkas</A>
        <DT><A HREF="https://w\u00f6mbat.test/burrows?a=1&amp;b=2">W\u00f6mbats</A>
        <DT><A HREF="javascript:alert(1)">A bookmarklet</A>
        <DT><A HREF="place:sort=8">Most visited</A>
        <DT><A HREF="file:///etc/passwd">A file</A>
        <DT><A HREF="http://quokka.test/">Quokkas once more</A>
        <DT><A>No address</A>
    </DL><p>
</DL><p>
"""


def test_bookmarks_are_read_as_browsers_export_them(tmp_path: Path) -> None:
    file = tmp_path / "bookmarks.html"
    file.write_text(EXPORTED, "utf-8")

    assert read_urls(f"@{file}") == ("http://quokka.test/", "https://xn--wmbat-jua.test/burrows?a=1&b=2")


def test_so_many_bookmarks_are_read(tmp_path: Path) -> None:
    file = tmp_path / "bookmarks.html"
    marks = "".join(f'<DT><A HREF="http://s{n}.test/">{n}</A>\n' for n in range(MAX_URLS + 5))
    file.write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n{marks}", "utf-8")

    assert len(read_urls(f"@{file}")) == MAX_URLS


PIECES = ["<!", "<![", " a", "<a ", "href", "=", '"', "'", ">", "http://q.test/", "&#x", "\n"]


@given(st.lists(st.sampled_from(PIECES)))
def test_whatever_stands_in_a_file_it_is_urls_or_told_in_one_line(pieces: list[str]) -> None:
    try:
        assert all(url.startswith(("http://", "https://")) for url in urls_of("".join(pieces)))
    except BadInput as error:
        assert "\n" not in str(error)


def test_links_are_read_however_they_are_quoted() -> None:
    marks = '<a href="http://one.test/"><A ADD_DATE="1" HREF=http://two.test/?a=1&amp;b=2>'

    assert urls_of(marks) == ("http://one.test/", "http://two.test/?a=1&b=2")


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("", ()),
        ("http://a.test/,http://b.test/x", ("http://a.test/", "http://b.test/x")),
        ("@FILE", ("http://a.test/", "http://b.test/")),
    ],
)
def test_lists_are_read_as_seeds_are(tmp_path: Path, text: str, urls: tuple[str, ...]) -> None:
    file = tmp_path / "list"
    file.write_text("http://a.test/\n# not this one\nhttp://b.test/  # but this\n")

    assert read_urls(text.replace("FILE", str(file))) == urls


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "cannot read"),
        ("", "no URL"),
        ("neither this\n", "is not a URL"),
        ("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><DT><A HREF='javascript:1'>x</A>", "no http or https"),
    ],
)
def test_what_holds_no_url_is_told_in_one_line(tmp_path: Path, content: str | None, line: str) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_text(content)

    with pytest.raises(BadInput, match=line) as told:
        read_urls(f"@{file}")

    assert "\n" not in str(told.value)
