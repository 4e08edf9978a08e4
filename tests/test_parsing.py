"""What a page says and links to. Sections are those of the HTML Standard; C1 … C9 of the fault list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.parsing import parse, with_headers
from webcrawler.parsing.encoding import declared_encoding, decode
from webcrawler.parsing.markup import flatten
from webcrawler.parsing.reader import MAX_LINKS
from webcrawler.records import Link, Page

URL = "http://a.example/dir/page"


def page(html: str | bytes, **options: object) -> Page:
    body = html if isinstance(html, bytes) else html.encode()
    return parse(body, URL, **options)  # type: ignore[arg-type]


def link(html: str, **options: object) -> Link:
    (only,) = page(html, **options).links
    return only


def targets(html: str | bytes) -> list[str]:
    return [found.spelling for found in page(html).links]


# Encodings (13.2.3.2)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=iso-8859-2", "café"),  # the mark wins
        (b"\xff\xfe" + "café".encode("utf-16-le"), "", "café"),
        (b"\xfe\xff" + "café".encode("utf-16-be"), "", "café"),
        (b"\xe8\xa9", "text/html; charset=ISO-8859-2", "čŠ"),
        (b"\x93caf\xe9\x94", "text/html; charset=latin1", "“café”"),  # latin1 is windows-1252
        (b'<meta charset="koi8-r">\xd4\xd9', "", "ты"),
        (b'<meta charset="koi8-r">\xd4\xd9', "text/html; charset=windows-1251", "ФЩ"),  # HTTP wins
        (b'<meta charset="koi8-r">\xd4\xd9', "text/html; charset=nonsense", "ты"),
        (b'<meta http-equiv=Content-Type content="text/html; charset=koi8-r">\xd4\xd9', "", "ты"),
        (b'<!-- <meta charset="koi8-r"> -->caf\xe9', "", "café"),
        (b'<meta charset="bogus"><meta charset="koi8-r">\xd4\xd9', "", "ты"),
        (b'<meta charset="utf-16">caf\xc3\xa9', "", "café"),  # it can be read as ASCII: it is not UTF-16
        (b'<?xml version="1.0" encoding="koi8-r"?>\xd4\xd9', "", "ты"),
        (b"caf\xe9", "", "café"),  # nothing said: windows-1252 …
        (b"caf\xc3\xa9", "", "café"),  # … but for what is valid UTF-8
        ("日本".encode("shift_jis"), "text/html; charset=Shift_JIS", "日本"),
        (b"+ADw-b+AD4-x", "text/html; charset=utf-7", "+ADw-b+AD4-x"),  # no encoding of the web (C6)
        (b"\x1b$BF|K\\\x1b(B", "text/html; charset=iso-2022-jp", "日本"),
        (b"a\xc0\xafb", "text/html; charset=utf-8", "a��b"),  # overlong
        (b"a\xed\xa0\x80b", "text/html; charset=utf-8", "a���b"),  # a lone surrogate
        (b"a&#xD800;b", "", "a�b"),
        (b"a\x00b", "", "ab"),
        ("a b".encode("utf-16-le"), "", "a b"),  # UTF-16 that does not say so
    ],
)
def test_bytes_become_the_characters_that_a_browser_shows(body: bytes, content_type: str, text: str) -> None:
    assert page(body, content_type=content_type).text == text


@pytest.mark.parametrize("codec", ["punycode", "idna", "unicode_escape", "hex", "zlib", "rot13", "undefined"])
def test_codecs_of_python_that_are_no_encodings_of_the_web_are_not_used(codec: str) -> None:
    assert declared_encoding(b"<meta charset=%s>" % codec.encode(), f"text/html; charset={codec}") == ""


# Text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one  two\n three</p>", "one two three"),
        ("<p>one<p>two", "one\ntwo"),
        ("one<br>two<div>three</div>four", "one\ntwo\nthree\nfour"),
        ("t<b>ab</b>le", "table"),  # inline elements do not cut words
        ("one <b> two </b> three", "one two three"),
        ("<table><tr><td>a<td>b<tr><td>c", "a b\nc"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("caf&eacute;&nbsp;&amp; bar", "café & bar"),
        ("<pre>a\n  b</pre>", "a b"),
        ("a<script>x</script><style>y</style><template>z</template><noscript>n</noscript>b", "ab"),
        ("a<!-- hidden -->b", "ab"),
        ("one</br>two</BR >three", "one\ntwo\nthree"),
        ("<x-y><template shadowrootmode=OPEN><p>one</p></template>two</x-y>", "one\ntwo"),
        ("<template><template shadowrootmode=open>no</template></template>one", "one"),
        ("<template shadowrootmode=no>no</template>one", "one"),
        ("one <video src=x>no<p>no</video><audio>no</audio><canvas>no</canvas>two", "one two"),
        ("<object data=x>no<object>no</object></object><object>one</object>", "one"),
        ("<title>t</title>a<svg><title>drawing</title></svg>", "a"),
        ("<select><option>a<option>b</select>", "a\nb"),
        ("", ""),
    ],
)
def test_text_is_what_is_visible(html: str, text: str) -> None:
    assert page(html).text == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a\x1b[31mred\x1b[0m", "a[31mred[0m"),  # a terminal would obey
        ("fo\x1bo", "foo"),
        ("fo&#27;o", "foo"),
        ("fo&#x1B;<b>o</b>", "foo"),
        ("<p>foo&#27;</p>\x1b<p>&#8;bar", "foo\nbar"),
        ("foo \x1b bar", "foo bar"),
        ("foo\x1b\x07", "foo"),
        ("fo\x7fo ba\x9br", "foo bar"),  # DEL, C1
        ("foo\tbar\nbaz\x0cqux", "foo bar baz qux"),
        ("foo\x85bar\x1cbaz", "foo bar baz"),  # these separate words
        ("so\xadft 日\x1b本\u200d🏳️", "so\xadft 日本\u200d🏳️"),  # what prints nothing but controls nothing
    ],
)
def test_text_has_no_control_characters(html: str, text: str) -> None:
    assert page(html).text == text


NONCHARACTERS = ["\ufffe", "&#xFFFF;", "\ufdd0", "\ufdef", "\U0001fffe", "&#x10FFFF;"]


@pytest.mark.parametrize("control", ["\x1b", "&#27;", "\x07", "\x7f", "\x9b", "\0", *NONCHARACTERS])
def test_nothing_that_is_shown_has_control_characters(control: str) -> None:
    named = f"na{control}me"
    found = page(
        f"<meta charset=utf-8><title>{named}</title><meta name=description content='{named}'>"
        f"<meta name=keywords content='{named}'><h1>{named}</h1><a href=x>{named}</a><img alt=no>"
        f"<a href=y><img alt='{named}'></a><a href=z>then</a>"
    )

    assert (found.title, found.description, found.keywords) == ("name", "name", "name")
    assert found.headings == ("name",)
    assert [one.anchor for one in found.links] == ["name", "name", "then"]
    assert found.links[2].context == "name name"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        # links beside one another are words of their own
        ("<a href=x>Northwest</a><a href=y>Categories</a>", "Northwest Categories"),
        ("<a>Northwest</a><a>Categories</a>", "Northwest Categories"),
        ("<a href=x>A</a><a href=y>B</a><a href=z>C</a>", "A B C"),
        ("<a href=x>North</a><!-- --><a href=y>South</a>", "North South"),
        ("<a href=x>North<a href=y>South</a>", "North South"),
        ("<span><a href=x>North</a></span><span><a href=y>South</a></span>", "North South"),
        ("<a href=x><b>North</b></a><a href=y><i>South</i></a>", "North South"),
        ("<a href=x>North</a><a href=z><img alt=logo></a><a href=y>South</a>", "North South"),
        ("<a href=x>North</a><a href=y><script>no</script>South</a>", "North South"),
        # where something stands between them, that decides
        ("<a href=x>North</a> <a href=y>South</a>", "North South"),
        ("<a href=x>North</a>|<a href=y>South</a>", "North|South"),
        ("<a href=x>North</a><br><a href=y>South</a>", "North\nSouth"),
        ("<li><a href=x>North</a><li><a href=y>South</a>", "North\nSouth"),
        # a link within a word, and other markup, does not part it
        ("un<a href=x>link</a>ed", "unlinked"),
        ("<a href=x>link</a>s", "links"),
        ("<b>f</b>oo", "foo"),
        ("<b>f</b><i>oo</i>", "foo"),
        ("<a href=x>f<b>o</b>o</a>", "foo"),
        ("fo<a name=here></a>o", "foo"),
        ("<a href=x>fo</a><a name=here></a>o", "foo"),
        ("<a name=here></a><a href=x>foo</a>", "foo"),
        ("f<a href=x></a><a href=y>oo</a>", "foo"),
    ],
)
def test_links_beside_one_another_are_words_of_their_own(html: str, text: str) -> None:
    assert page(html).text == text


def test_anchor_of_a_link_beside_another_begins_with_its_word() -> None:
    links = page("<a href=x>North</a><a href=y>South</a>").links

    assert [(one.anchor, one.context) for one in links] == [("North", "South"), ("South", "North")]


def test_head_tells_title_description_and_keywords() -> None:
    read = page(
        "<svg><title>drawing</title></svg><title> A\n title </title><title>second</title>"
        '<META NAME=Description CONTENT=" what  it is "><meta name=keywords content="a, b">'
    )

    assert (read.title, read.description, read.keywords) == ("A title", "what it is", "a, b")


def test_headings_come_in_order_and_without_empty_ones() -> None:
    found = page("<h1>One <i>two</i></h1><h3></h3><p>x<h6>three<br>four</h6>").headings

    assert found == ("One two", "three four")


@pytest.mark.parametrize(
    ("html", "spans"),
    [
        ("plain", []),
        ("<h1>a</h1><h2>b</h2><h3>c</h3><h4>d</h4>", [("a", 6), ("b", 5), ("c", 4), ("d", 3)]),
        ("<h5>e</h5><h6>f</h6>", [("e", 2), ("f", 2)]),
        ("x <b>one two</b> y <small>z</small>", [("one two", 1), ("z", -1)]),
        ("<h1>a <b>b</b> c</h1>", [("a b c", 6)]),  # nested: the larger
        ("<small>a <b>b</b></small>", [("a", -1), ("b", 1)]),
        ("<b>a <small>b</small></b>", [("a b", 1)]),
        ("<b>a</b> <em>b</em>", [("a b", 1)]),  # a run of one size is one span
        ("<h2>a</h2><h2>b</h2>", [("a", 5), ("b", 5)]),  # that ends with its block
        ("<em>un</em>likely", [("un", 1)]),
        ("<b>a<h2>b</h2>c</b>", [("a", 1), ("b", 5), ("c", 1)]),
    ],
)
def test_emphasis_spans_give_the_relative_size_of_words(html: str, spans: list[tuple[str, int]]) -> None:
    read = page(html)

    assert [(read.text[start:end], size) for start, end, size in read.emphasis] == spans


@pytest.mark.parametrize(
    ("html", "noindex", "nofollow"),
    [
        ("<meta name=ROBOTS content=NoIndex>", True, False),
        ("<meta name=robots content='index, nofollow'>", False, True),
        ("<meta name=robots content=none>", True, True),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", True, True),
        ("<meta name=googlebot content=none>", False, False),
        ("<meta name=OwlBot content=NoIndex>", True, False),
        ("<meta name=owlbot content='nofollow; noarchive'>", False, True),
        ("<meta name=robots content='noindex;nofollow'>", True, True),
        ("<meta name=robots content='max-image-preview: none'>", False, False),
        ("<meta name=robots content='unavailable_after: 25-Jun-2002 15:00:00 EST'>", True, False),
        (
            "<x-y><template shadowrootmode=open><meta name=robots content=noindex></template></x-y>",
            True,
            False,
        ),
    ],
)
def test_meta_robots_is_read_in_any_case_and_of_no_other_robot(
    html: str, noindex: bool, nofollow: bool
) -> None:
    read = page(html, robot="owlbot")

    assert (read.noindex, read.nofollow) == (noindex, nofollow)


# Links


def test_links_of_all_kinds_are_found_in_the_order_of_the_page() -> None:
    html = (
        '<meta http-equiv=Refresh content="5; URL=r"><a href=a>1</a><map><area href=b alt=m></map>'
        "<iframe src=c title=f></iframe><img src=no.png><link href=no><script src=no></script>"
    )

    frames = "<frameset><frame src=x><frame src=y></frameset>"

    assert targets(html) == [f"http://a.example/dir/{name}" for name in "rabc"]
    assert [found.anchor for found in page(html).links] == ["", "1", "m", "f"]
    assert targets(frames) == [f"http://a.example/dir/{name}" for name in "xy"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("0;url=/x", "/x"),
        ("0; URL = '/x' trailing", "/x"),
        ('1.5, url="/x', "/x"),
        ("0 /x", "/x"),
        ("5", None),
        ("url=/x", None),
        ("0;url=javascript:alert(1)", None),  # C8
    ],
)
def test_meta_refresh_is_a_link_where_it_names_a_page(content: str, found: str | None) -> None:
    read = page(f"<meta http-equiv=refresh content='{content}'>kept".replace("'/x'", "&#39;/x&#39;"))

    assert [target.spelling for target in read.links] == ([f"http://a.example{found}"] if found else [])
    assert read.text == "kept"


@pytest.mark.parametrize(
    ("html", "anchors"),
    [
        ("<a href=x> one <img alt='a  picture'><b>two</b></a>", ["one a picture two"]),
        ("<a href=x>one <a href=y>two <div><a href=z>three", ["one", "two", "three"]),
    ],
)
def test_anchor_is_text_and_alt_in_their_order_up_to_the_next_link(html: str, anchors: list[str]) -> None:
    assert [found.anchor for found in page(html).links] == anchors


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<a href=n><table><tr><td>in a cell</table></a> behind", "in a cell"),
        ("<TABLE><TD><A HREF=n><IMG ALT=owl> <B>x</B><TABLE><TD>y</TABLE></A>behind</TABLE>", "owl x y"),
        ("<a href=n><div>x</div><table><td>1</table><table><td>2</table></a> behind", "x 1 2"),
        ("<a href=n><Table><td>x</Table></a> behind", "x"),
        ("<a/href=n><table><td>x</table></a> behind", "x"),
        ("<a href=n><fieldset>x</fieldset></a> behind", "x"),
        ("<a href=n><FieldSet>x</FieldSet></a> behind", "x"),
        ("<a/href='n'/>text</a> behind", "text"),
        ("<a href='n' />text</a> behind", "text"),
        ("<a href=n />text</a> behind", "text"),
        ("<a href=n><template shadowrootmode=closed>text</template></a> behind", "text"),
    ],
)
def test_anchor_ends_where_its_link_does(html: str, anchor: str) -> None:
    assert link(html).anchor == anchor


@pytest.mark.parametrize("tag", ["<h2 class='x' />", "<h2/>", "<H2 />", "<h2/class='x'/>"])
def test_slash_at_the_end_of_a_heading_s_tag_means_nothing(tag: str) -> None:
    assert page(f"{tag}Owls</h2><p>words").headings == ("Owls",)
    assert page("<h2 class='x' /><p>words", content_type="application/xhtml+xml").headings == ()


def test_context_is_ten_words_on_either_side() -> None:
    before, after = [f"b{i}" for i in range(15)], [f"a{i}" for i in range(15)]

    found = link(f"<p>{' '.join(before)} <a href=x>the link</a><p>{' '.join(after)}")

    assert found.context.split() == before[-10:] + after[:10]


def test_one_link_for_each_target_with_its_distinct_anchors() -> None:
    found = link("<a href=x#1>one</a> <a href=/dir/x>two</a> <a href=x>one</a> <a href=x></a>")

    assert found.url == found.spelling == "http://a.example/dir/x"
    assert found.anchor == "one · two"


def test_anchors_are_cut_at_500_characters() -> None:
    assert len(link(f"<a href=x>{'a ' * 400}</a><a href=x>{'b' * 400}</a>").anchor) == 499
    assert len(link("".join(f"<a href=x>{i:0100}</a>" for i in range(9))).anchor) == 500


def test_target_is_nofollow_only_where_every_link_to_it_is() -> None:
    assert link("<a href=x rel='me NoFollow'>1</a><a href=x rel=nofollow>2</a>").rel == "nofollow"
    assert link("<a href=x rel=nofollow>1</a><a href=x>2</a>").rel == ""
    assert link("<a href=x>1</a><a href=x rel=nofollow>2</a>").rel == ""


def test_link_to_the_page_itself_is_a_link() -> None:
    assert link("<a href=#top>up</a>").spelling == URL


@pytest.mark.parametrize(
    ("base", "target"),
    [
        ("http://b.example/c/", "http://b.example/c/x"),
        ("/up/", "http://a.example/up/x"),
        ("javascript:alert(1)", "http://a.example/dir/x"),  # 4.2.3, C7
        ("data:text/html,", "http://a.example/dir/x"),
        ("http://[bad", "http://a.example/dir/x"),
        ("ftp://b.example/", None),
        ("mailto:me", None),
    ],
)
def test_base_is_what_links_are_relative_to_also_before_it(base: str, target: str | None) -> None:
    found = targets(f'<a href=x>1</a><base href="{base}"><base href="http://second.example/">')

    assert found == ([target] if target else [])


def test_what_is_no_link_is_counted_and_costs_nothing_else() -> None:  # C9
    read = page(
        "<a href=mailto:a@b>m</a><a href=JavaScript:x()>j</a><a href='http://[bad'>b</a>"
        "<a href=http://h:99999/>p</a><a href='/nul&#0;'>n</a><a href=/good>g</a><a name=here>no link</a>"
    )

    assert read.refused == {"scheme": 2, "malformed": 2}
    assert "http://a.example/good" in [found.spelling for found in read.links]
    assert read.text == "m j b p n g no link"


def test_what_is_not_worth_fetching_is_a_link_that_says_so() -> None:
    assert link("<a href=picture.png>p</a>").refused == "extension"
    assert link("<a href=https://s.example/>s</a>", protocols=("http",)).refused == "scheme"
    assert link(f"<a href=/{'x' * 3000}>l</a>").refused == "length"
    assert link("<a href=/page>p</a>").refused == ""


def test_xhtml_may_have_empty_elements_that_html_would_not_close() -> None:
    assert page("<script src='x'/><p>text</p>", content_type="application/xhtml+xml").text == "text"


# Hostile pages


@pytest.mark.parametrize("depth", [300, 5_000, 60_000])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("tag", ["b", "div", "font", "h1", "p", "span", "blockquote", "a href=n"])
def test_nothing_after_deep_nesting_is_lost(tag: str, closed: bool, depth: int) -> None:  # C1
    end = f"</{tag.split()[0]}>" * depth if closed else ""

    read = page(f"<{tag}>" * depth + end + "<p>after <a href=x>link</a> end</p>")

    assert read.text == "after link end"
    assert read.links[-1].spelling == "http://a.example/dir/x"


def test_flat_pages_are_left_alone() -> None:
    html = "<ul>" + "<li><a href=x>a</a></li>" * 30_000 + "</ul>"

    assert flatten(html) == html


def test_flattening_leaves_comments_scripts_and_attributes_whole() -> None:
    deep = "<b>" * 60_000
    html = deep + "<!-- <b> </i> --><script>'<b>'</script></i><b title='<b>'>x</b><a href=y>z</a>"

    assert page(html).text == "xz"
    assert targets(html) == ["http://a.example/dir/y"]


@pytest.mark.slow
def test_links_past_the_cap_are_counted() -> None:  # C2
    read = page("".join(f"<a href={i}>l</a>" for i in range(MAX_LINKS + 5)))

    assert len(read.links) == MAX_LINKS
    assert read.refused == {"too-many": 5}


MARKUP = ["<!--", "<!", "<![CDATA[", "<?", "<a href='", "<script>", "<script><!--", "&", "&#", "<title>"]
MARKUP += ["</i>", "<meta charset='", "<table>", "<form>", "<x y=", "<a b=1 ", "<"]


@pytest.mark.parametrize("piece", [*MARKUP, "x", " ", "e\u0301", "\0", "\u202e"])
def test_a_megabyte_of_one_thing_is_read_in_linear_time(piece: str) -> None:  # C2, C3, C6
    page("<p>kept" + piece * (2**20 // len(piece)))  # quadratic would not end


def test_end_tags_of_nothing_in_deep_nesting_are_read_in_linear_time() -> None:  # C3
    assert page("<b>" * 100_000 + "</i>" * 100_000 + "kept").text == "kept"


def holds(read: Page) -> None:
    """What must be true of any page."""
    anchors = [found.anchor for found in read.links]
    for text in (read.title, read.description, read.text, *read.headings, *anchors):
        text.encode()  # valid Unicode
        assert "\0" not in text
    assert all(0 <= start < end <= len(read.text) for start, end, _ in read.emphasis)
    assert all(read.emphasis[i][1] <= read.emphasis[i + 1][0] for i in range(len(read.emphasis) - 1))
    assert len({found.id for found in read.links}) == len(read.links)
    assert all(found.spelling.isascii() for found in read.links)


@given(st.binary(max_size=300), st.text(max_size=40))
def test_any_bytes_are_a_page(body: bytes, content_type: str) -> None:
    holds(parse(body, URL, content_type))


SOME_TAGS = (
    "a b p div title h1 h3 small svg script style noscript template iframe frameset frame table td select "
    "base meta area img body html textarea math plaintext"
)
NAMES = st.sampled_from(SOME_TAGS.split())
ATTRIBUTES = ["", " href=x", " href='http://[bad'", " src=y alt='z'", " name=robots content=none"]
ATTRIBUTES += [" rel=nofollow href='#'"]
OTHERS = ["<!--", "-->", "<![CDATA[", "]]>", "&amp", "&#xD800;", "<", ">", "'", '"', "word ", "\n"]
START_TAGS = st.builds("<{}{}>".format, NAMES, st.sampled_from(ATTRIBUTES))
END_TAGS = st.builds("</{}>".format, NAMES)
SOUP = st.lists(START_TAGS | END_TAGS | st.sampled_from(OTHERS) | st.text(max_size=5), max_size=40)


@given(SOUP, st.sampled_from(["text/html", "application/xhtml+xml"]))
def test_any_tag_soup_is_a_page(pieces: list[str], content_type: str) -> None:
    holds(parse("".join(pieces).encode("utf-8", "surrogatepass"), URL, content_type))


@given(st.text())
def test_text_in_utf_8_is_read_as_written(text: str) -> None:
    decoded = decode(text.encode(), "text/html; charset=utf-8")

    assert decoded.lstrip("\ufeff") == text.replace("\0", "").lstrip("\ufeff")


@given(st.binary(max_size=100))
def test_url_that_is_none_does_not_harm_the_page(url: bytes) -> None:
    holds(parse(b"<a href=x>1</a><a href=http://h/>2</a>", url.decode("latin-1")))


@pytest.mark.parametrize(
    ("values", "noindex", "nofollow"),
    [
        (["noindex"], True, False),
        (["NoIndex, nofollow"], True, True),
        (["none"], True, True),
        (["nofollow", "noindex"], True, True),
        (["max-snippet: 20, noindex"], True, False),
        (["unavailable_after: 25 Jun 2030 15:00:00 GMT, nofollow"], False, True),
        (["noarchive, index, follow"], False, False),
        (["examplebot: noindex, nofollow"], False, False),
        (["nofollow, examplebot: noindex"], False, True),
        (["OwlBot: noindex"], True, False),
        (["owlbot : none"], True, True),
        (["examplebot: noindex, owlbot: nofollow"], False, True),
        (["examplebot: noindex", "owlbot: nofollow"], False, True),
        (["360spider: noindex"], False, False),
        (["examplebot/2.1: noindex"], False, False),
        (["OwlBot/1.0: noindex"], True, False),
        (["examplebot: nofollow, *: noindex"], True, False),
        (["unavailable_after: Friday, Jun 25, 2032 15:00:00 GMT, noindex"], True, False),
        (["owlbot: max-snippet: 20, noindex"], True, False),
        (["noindex; nofollow"], True, True),
        (["noarchive noindex"], True, False),
        (["max-image-preview: none, max-video-preview:none"], False, False),
        (["unavailable_after: Fri, 25 Jun 2032 15:00:00 GMT, noindex"], True, False),
        (["unavailable_after: Friday, 25-Jun-32 15:00:00 GMT; nofollow"], False, True),
        (["unavailable_after: 2032-06-25T15:00:00Z, nofollow"], False, True),
        (["unavailable_after: Fri, 25 Jun 2032 15:00:00 GMT"], False, False),
        (["unavailable_after: Tue, 25 Jun 2002 15:00:00 GMT, nofollow"], True, True),
        (["unavailable_after: 2002-06-25"], True, False),
        (["examplebot: unavailable_after: 2002-06-25"], False, False),
        ([""], False, False),
    ],
)
def test_x_robots_tag_headers_ask_what_meta_robots_asks(
    values: list[str], noindex: bool, nofollow: bool
) -> None:
    found = with_headers(page("<p>words"), [("x-robots-tag", value) for value in values], "owlbot")

    assert (found.noindex, found.nofollow) == (noindex, nofollow)
