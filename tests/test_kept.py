"""Requests as JSON and back: what a spider said is what is sent, after a crash and in another process."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest
from scrapy.utils.request import fingerprint

from webcrawler import urls
from webcrawler.crawl.dropin.kept import Keeper, NotKept, plain, restored
from webcrawler.crawl.dropin.project import key_of
from webcrawler.records import Lease, Link

URL = "http://a.example/page"


class Fields(scrapy.Item):
    name = scrapy.Field()


@dataclass
class Product:
    name: str
    tags: list[str] = field(default_factory=list)


class Shop(Spider):
    name = "shop"

    def parse_item(self, response: object) -> None: ...

    def failed(self, failure: object) -> None: ...

    def __private(self, response: object) -> None: ...

    def private(self) -> Any:
        return self.__private


SHOP = Shop()
KEEPER = Keeper(SHOP, key_of("canonical", fingerprint), "number")


def lease(link: Link) -> Lease:
    return Lease(link.id, link.url, link.spelling, "http://a.example", 1, request=link.request)


def kept(request: Request) -> Request:
    """As another process gets it."""
    link = KEEPER.link(request, "")
    json.loads(link.request or "{}")
    return KEEPER.request(lease(link))


REQUESTS = [
    Request(URL),
    Request(URL + "#part"),
    Request(URL, SHOP.parse_item, errback=SHOP.failed),
    Request(URL, SHOP.private()),
    Request(URL, method="PUT", body=b"\x00\xff", headers={"X-A": ["1", "2"], b"X-B": b"\xe9"}),
    Request(URL, cookies={"a": "b"}, priority=-7, dont_filter=True, flags=["x"], encoding="latin-1"),
    Request(URL, cookies=[{"name": "a", "value": "b", "domain": "a.example"}]),
    Request(URL, meta={"depth": 3, "pair": (1, "a"), "set": {1}, "raw": b"\xff", 5: {"!x": None}}),
    Request(URL, cb_kwargs={"item": Product("pen", ["a"]), "fields": Fields(name="ink")}),
    FormRequest(URL, formdata={"a": "b c"}, callback=SHOP.parse_item),
    JsonRequest(URL, data={"a": [1, None]}, callback=SHOP.parse_item),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_a_request_comes_back_as_it_was(request_: Request) -> None:
    found = kept(request_)

    assert type(found) is type(request_)
    assert {name: getattr(found, name) for name in request_.attributes} == {
        name: getattr(request_, name) for name in request_.attributes
    }


def test_a_plain_get_is_its_url_alone() -> None:
    assert KEEPER.link(Request(URL), "").request == ""


def test_a_key_of_meta_that_is_of_this_process_is_not_kept() -> None:
    assert kept(Request(URL, meta={"number": 7, "own": 1})).meta == {"own": 1}


NOT_KEPT: list[tuple[Request, str]] = [
    (Request(URL, lambda response: None), "callback '<lambda>' is not a method of the spider"),
    (Request(URL, errback=Shop().failed), "errback 'failed' is not a method of the spider"),
    (Request(URL, meta={"file": object()}), "meta holds a object"),
    (Request("data:,text"), "neither http nor https"),
]


@pytest.mark.parametrize(("request_", "why"), NOT_KEPT, ids=str)
def test_what_cannot_be_kept_is_said_with_what_to_do(request_: Request, why: str) -> None:
    with pytest.raises(NotKept, match=why):
        KEEPER.link(request_, "")


# ---- which requests are the same


def key(request: Request, nonce: str = "") -> str:
    return KEEPER.link(request, nonce).url


def test_requests_are_the_same_by_canonical_url_method_and_body() -> None:
    assert key(Request(URL, SHOP.parse_item)) == key(Request("http://A.example:80/page#x")) == URL
    assert key(Request(URL, method="POST")) == key(Request(URL + "#x", method="POST"))
    assert len({key(Request(URL, method="POST", body=body)) for body in ("", "a", "b")} | {URL}) == 4


def test_a_request_that_is_not_to_be_filtered_is_one_of_its_own() -> None:
    always = Request(URL, dont_filter=True)

    assert len({key(always, "1"), key(always, "2"), key(Request(URL))}) == 3
    assert key(always, "1") == key(always, "1")


def test_a_fingerprinter_of_the_project_decides_alone() -> None:
    keeper = Keeper(SHOP, key_of("scrapy:theirs.ByMethod", lambda request: request.method.encode()), "number")
    one, other = keeper.link(Request(URL), ""), keeper.link(Request("http://a.example/else?x"), "")

    assert one.url == other.url
    assert keeper.request(lease(other)).url == "http://a.example/else?x"


# ---- what is in Redis is not trusted


@pytest.mark.parametrize(
    "text",
    [
        '{"class": "subprocess:Popen"}',
        '{"class": "antigravity:anything"}',
        '{"meta": {"x": {"!item": ["subprocess:Popen", {"args": "ls"}]}}}',
        '{"meta": {"x": {"!item": ["os:system", {}]}}}',
        '{"meta": {"x": {"!what": []}}}',
        '{"meta": {"x": {"!page-method": ["click", {"!tuple": []}, {}]}}}',
        '{"callback": "gone"}',
        '{"callback": "name"}',
    ],
)
def test_nothing_is_imported_or_called_that_is_no_item_request_or_method(text: str) -> None:
    with pytest.raises(ValueError):
        KEEPER.request(Lease(1, URL, URL, "http://a.example", 1, request=text))


class PageMethod:
    """As that of scrapy-playwright, which is not installed here."""

    __module__ = "scrapy_playwright.page"

    def __init__(self, method: str, *args: object, **kwargs: object) -> None:
        self.method, self.args, self.kwargs, self.result = method, args, kwargs, None


@pytest.fixture
def playwright(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scrapy_playwright.page", SimpleNamespace(PageMethod=PageMethod))  # type: ignore[arg-type]


def test_what_a_browser_is_told_to_do_with_a_page_comes_back(playwright: None) -> None:
    method = PageMethod("wait_for_selector", "div.quote", timeout=5)

    (found,) = kept(Request(URL, meta={"playwright": True, "playwright_page_methods": [method]})).meta[
        "playwright_page_methods"
    ]

    assert type(found) is PageMethod
    assert vars(found) == vars(method)


def test_a_function_that_a_browser_would_call_is_not_kept(playwright: None) -> None:
    with pytest.raises(NotKept, match="a function"):
        KEEPER.link(Request(URL, meta={"x": PageMethod(lambda page: None)}), "")  # type: ignore[arg-type]


def test_a_browser_is_told_no_name_that_is_not_public(playwright: None) -> None:
    with pytest.raises(ValueError, match="page-method"):
        restored({"!page-method": ["__class__", {"!tuple": []}, {}]})


OF_FILES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("screenshot", [], {"path": "/tmp/written.png"}),
    ("pdf", [], {"path": "/tmp/written.pdf"}),
    ("add_script_tag", [], {"path": "/tmp/read"}),
    ("set_input_files", ["input", "/tmp/read"], {}),
    ("route_from_har", ["/tmp/read.har"], {}),
    ("goto", ["file:///tmp/read"], {}),
]


@pytest.mark.parametrize(("method", "args", "kwargs"), OF_FILES)
def test_a_browser_is_told_nothing_that_reads_or_writes_a_file(
    playwright: None, method: str, args: list[Any], kwargs: dict[str, Any]
) -> None:
    with pytest.raises(NotKept, match=r"meta holds a PageMethod .* files; pass text"):
        KEEPER.link(Request(URL, meta={"x": [PageMethod(method, *args, **kwargs)]}), "")

    for named in (kwargs, {"!dict": list(kwargs.items())}):
        with pytest.raises(ValueError, match="page-method"):
            restored({"!page-method": [method, {"!tuple": args}, named]})


@pytest.mark.parametrize(
    ("args", "kwargs"), [("ab", {}), (5, {}), (None, {}), ([], []), ([], None), ([], {"!dict": [[1, 2]]})]
)
def test_arguments_of_a_method_are_a_list_and_named_ones(playwright: None, args: Any, kwargs: Any) -> None:
    with pytest.raises(ValueError, match="page-method"):
        restored({"!page-method": ["click", args, kwargs]})


# ---- values


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.text() | st.integers() | st.binary() | st.tuples(st.text(), st.integers())
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS, inner)
        | st.sets(SCALARS)
        | st.builds(Product, st.text())
    ),
    max_leaves=20,
)


@given(VALUES)
def test_every_value_comes_back_as_it_was(value: Any) -> None:
    assert restored(json.loads(json.dumps(plain(value)))) == value


PARTS = st.sampled_from(["/", "/a", "/a/index.html", "/A", "/a/../b", "/%7Ea", "/~a", "/a;jsessionid=1"])
QUERIES = st.sampled_from(
    ["", "?x=1&y=2", "?y=2&x=1", "?x=1&y=2&utm_source=z", "?x=", "?x", "#top", "?q=a b"]
)
SERVERS = st.sampled_from(
    ["http://a.example", "http://A.example", "http://a.example:80", "https://a.example"]
)
SOME = st.builds(
    lambda server, path, query, method: Request(server + path + query, method=method),
    *(SERVERS, PARTS, QUERIES, st.sampled_from(["GET", "POST"])),
)


@given(SOME, SOME)
def test_by_default_requests_are_the_same_exactly_where_scrapy_says_so(one: Request, other: Request) -> None:
    key = key_of("scrapy", fingerprint)

    assert (key(one, "") == key(other, "")) == (fingerprint(one) == fingerprint(other))


@given(SOME)
def test_whichever_requests_are_the_same_their_server_is_ours(one: Request) -> None:
    ours = urls.server(urls.canonical(one.url))

    for identity in ("scrapy", "canonical", "scrapy:theirs.Own"):
        assert urls.server(key_of(identity, fingerprint)(one, "")) == ours


def test_by_default_a_plain_get_is_known_by_a_url() -> None:
    assert key_of("scrapy", fingerprint)(Request(f"{URL}?y=2&x=1#top"), "") == f"{URL}?x=1&y=2"
