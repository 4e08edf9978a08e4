"""What a crawl is asked for: arguments are checked before anything is opened, and told off in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.job import Job, is_sitemap, read_seeds, seed_link, sitemap_link
from webcrawler.records import Lease


def test_without_arguments_the_mode_is_the_frontiers_and_nothing_is_bounded() -> None:
    assert Job.read() == Job("", (), None, None, ())
    assert Job.read().admits("http://a.test")


def test_every_argument_is_read() -> None:
    seeds, domains = "http://a.test/, https://b.test/x", " A.org, .b.org. ,"

    job = Job.read(mode="fifo", seeds=seeds, max_pages="10", max_time="1.5", domains=domains)

    assert job == Job("fifo", ("http://a.test/", "https://b.test/x"), 10, 1.5, ("a.org", "b.org"))


def test_arguments_of_scrapyd_are_not_ours() -> None:
    assert Job.read(_job="4711", mode="random").mode == "random"


def test_a_mode_carries_its_query_and_what_orders_its_queues() -> None:
    job = Job.read(mode="hot", query="molecular biology", then="backlink")

    assert job.mode == "hot?query=molecular+biology&then=backlink"
    assert Job.read(mode=job.mode).mode == job.mode
    assert Job.read(mode="ic?k1=3", query="gene").mode == "ic?k1=3&query=gene"


BAD = [
    # (arguments, what the one line says)
    ({"seed": "http://a.test/"}, "no such argument: seed; there are .*seeds"),
    ({"mode": "deepest"}, "unknown mode 'deepest'"),
    ({"mode": "fifo", "query": "gene"}, "knows no query"),
    ({"mode": "hot"}, "add -a query="),
    ({"query": "gene"}, "belong to a mode that looks for words: add -a mode=adaptive"),
    ({"domains": "a.org,http://b.org"}, "domain 'http://b.org' is not a host: write -a domains="),
    ({"domains": "b.org/x"}, "is not a host"),
    ({"domains": "b.org:8080"}, "is not a host"),
    ({"domains": "*b.org"}, "is not a host"),
    ({"domains": "*.*.b.org"}, "is not a host"),
    ({"domains": "b.org#x"}, "is not a host"),
    ({"mode": "anchor", "query": "gene\udcff"}, "query has characters that cannot be printed"),
    ({"seeds": "nonsense"}, "'nonsense' is not a URL"),
    ({"seeds": "http://a.test/,/b"}, "'/b' is not a URL"),
    ({"seeds": "file:///etc/passwd"}, "is not a URL"),
    ({"seeds": "data:text/html,a"}, "is not a URL"),
    ({"seeds": "http://"}, "is not a URL"),
    ({"seeds": "http://a.test:99999/"}, "is not a URL"),
    ({"seeds": "http://[::1/"}, "is not a URL"),
    ({"seeds": "@no/such/file"}, "cannot read URLs from no/such/file.*@FILE"),
    ({"seeds": "@."}, "cannot read URLs from"),
    ({"seeds": "@a\0b"}, "cannot read URLs from"),
    ({"max_pages": "0"}, "max_pages=0 is not a whole number"),
    ({"max_pages": "-3"}, "max_pages=-3"),
    ({"max_pages": "1.5"}, "max_pages=1.5"),
    ({"max_pages": "many"}, "max_pages=many"),
    ({"max_time": "0"}, "max_time=0"),
    ({"max_time": "-1"}, "max_time=-1"),
    ({"max_time": "nan"}, "max_time=nan"),
    ({"max_time": "inf"}, "max_time=inf"),
    ({"max_time": "soon"}, "max_time=soon"),
    ({"agents": "0"}, "agents=0 is not a whole number from 1 to 64"),
    ({"agents": "x"}, "agents=x is not a whole number"),
]


@pytest.mark.parametrize(("arguments", "line"), BAD, ids=[str(row[0])[:40] for row in BAD])
def test_bad_input_is_told_off_in_one_line(arguments: dict[str, str], line: str) -> None:
    with pytest.raises(BadInput, match=line) as raised:
        Job.read(**arguments)

    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("seeds", [",", " , ", "@{empty}"])
def test_seeds_that_hold_no_seed_are_bad_input(seeds: str, tmp_path: Path) -> None:
    """Else the demo web would be crawled in their place."""
    (tmp_path / "seeds").write_text("# nothing but this\n\n")

    with pytest.raises(BadInput):
        Job.read(seeds=seeds.replace("{empty}", str(tmp_path / "seeds")))


# ---- seeds files


def read_file(tmp_path: Path, content: bytes) -> tuple[str, ...]:
    file = tmp_path / "seeds.txt"
    file.write_bytes(content)
    return read_seeds(f"@{file}")


@pytest.mark.parametrize(
    ("content", "seeds"),
    [
        (b"http://a.test/\nhttp://b.test/\n", ("http://a.test/", "http://b.test/")),
        (b"http://a.test/", ("http://a.test/",)),  # no newline at the end
        (b"# all\n\n  http://a.test/  \n#http://b.test/\n", ("http://a.test/",)),
        (b"http://a.test/ # the first\n", ("http://a.test/",)),
        (b"http://a.test/#top\n", ("http://a.test/",)),  # a fragment is not a comment
        (b"http://a.test/\r\nhttp://b.test/\r\n", ("http://a.test/", "http://b.test/")),
        (b"\xef\xbb\xbfhttp://a.test/\n", ("http://a.test/",)),  # as Windows' Notepad writes it
        ("http://bücher.test/ü\n".encode(), ("http://xn--bcher-kva.test/%C3%BC",)),
        (b"http://a.test/x,y\n", ("http://a.test/x,y",)),  # commas part seeds in an argument only
    ],
)
def test_a_seeds_file_has_one_url_a_line(tmp_path: Path, content: bytes, seeds: tuple[str, ...]) -> None:
    assert read_file(tmp_path, content) == seeds


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"http://a.test/\n\nnonsense\n", r"'nonsense' \(line 3 of .*seeds.txt\)"),
        (b"<html><body>no\n</body></html>\n", r"seeds\.txt has neither one URL a line nor bookmarks"),
        (b"\xff\x00\x01", "cannot read URLs from"),
    ],
    ids=["a bad seed", "HTML that is no list", "no text"],
)
def test_what_is_wrong_with_a_seeds_file_is_named(tmp_path: Path, content: bytes, line: str) -> None:
    with pytest.raises(BadInput, match=line):
        read_file(tmp_path, content)


def test_a_very_long_seed_does_not_make_a_very_long_line() -> None:
    with pytest.raises(BadInput) as raised:
        read_seeds("x" * 100_000)

    assert len(str(raised.value)) < 500


@given(st.text())
def test_no_text_is_more_than_bad_input(text: str) -> None:
    for name in ("mode", "seeds", "max_pages", "max_time", "domains"):
        try:
            Job.read(**{name: text})
        except BadInput as error:
            assert str(error)


def test_a_seed_is_fetched_as_spelled_and_known_by_its_canonical_url() -> None:
    link = seed_link("http://A.test/index.html")

    assert (link.url, link.spelling) == ("http://a.test/", "http://a.test/index.html")


# ---- domains


@pytest.mark.parametrize(
    ("server", "within"),
    [
        ("http://a.org", True),
        ("https://www.a.org", True),
        ("http://www.a.org:8080", True),
        ("http://b.example.net", True),
        ("http://nota.org", False),  # ends alike, and is another one
        ("http://a.org.evil.net", False),
        ("http://example.net", False),
        ("http://127.0.0.1", False),
    ],
)
def test_domains_are_hosts_and_their_subdomains(server: str, within: bool) -> None:
    assert Job.read(domains="a.org,b.example.net").admits(server) is within


@pytest.mark.parametrize(
    ("domain", "host"),
    [
        ("bücher.example", "xn--bcher-kva.example"),
        ("*.Example.org", "example.org"),
        ("[::1]", "::1"),
        ("0:0::1", "::1"),
        ("127.1", "127.0.0.1"),
        ("*", "*"),
    ],
)
def test_domains_are_written_as_people_write_them(domain: str, host: str) -> None:
    assert Job.read(domains=domain).domains == (host,)


def test_sitemaps_are_urls_that_are_fetched_for_what_they_name() -> None:
    assert Job.read(sitemaps="http://a.test/map.xml.gz").sitemaps == ("http://a.test/map.xml.gz",)

    link = sitemap_link("http://a.test/map.xml.gz", "http://b.test")
    lease = Lease(link.id, link.url, link.spelling, "http://a.test", 1, request=link.request)

    assert (link.rel, link.refused) == ("sitemap", "")
    assert is_sitemap(lease)
    assert not is_sitemap(lease._replace(request=""))
    assert not is_sitemap(lease._replace(request='{"method": "POST"}'))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_list_of_seeds_is_read_as_other_programs_write_it(tmp_path: Path, encoding: str) -> None:
    """Windows marks the order of its bytes; Nutch has what it knows of a URL behind a tab."""
    mark = "\ufeff" if encoding[-3:] in ("-le", "-be") else ""
    file = tmp_path / "seeds.txt"
    file.write_bytes(f"{mark}http://a.test/1\r\nhttp://a.test/2\tnutch.score=10\r\n".encode(encoding))

    assert read_seeds(f"@{file}") == ("http://a.test/1", "http://a.test/2")
