"""Which search forms does a page have, that a crawl may fill in?

Those with one text field that send what is typed by GET (HTML Standard, 4.10.21.3), and change nothing. What
a form does is told by names alone, as people choose them; robots.txt and whoever crawls have the last word.
Weakness: fields that stand outside their form (the attribute `form`) are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from webcrawler.parsing.encoding import python_name
from webcrawler.parsing.markup import feed
from webcrawler.parsing.reader import Attributes
from webcrawler.records import FORM, FORM_AND_LINK, Link
from webcrawler.urls import UnfetchableUrl, outlink, resolve

MAX_FORMS = 20  # of a page
MAX_FIELDS = 50

TEXT = frozenset(("", "text", "search"))
# A form with one of these asks for something else than words to look for.
PERSONAL = frozenset(("password", "file", "email", "tel", "url"))
UNSENT = frozenset(("reset", "button", "image"))
TICKED = frozenset(("checkbox", "radio"))

# Words in the path of an action that changes something, or takes somebody in.
_CHANGES = """add basket buy cart checkout comment comments contact create delete donate edit feedback join
    login logon logout newsletter order password pay poll post register registration remove reply reset save
    send signin signoff signout signup subscribe subscription unsubscribe update upload vote"""
# Names of text fields that no words to look for are typed into.
_OTHER_TEXT = """address amount captcha card comment coupon email firstname lastname login mail message nick
    password phone postcode quantity url user username voucher zip zipcode"""
# Names of hidden fields that are of one visit; who sends them changes something.
_OF_A_VISIT = "authenticity captcha csrf csrfmiddlewaretoken nonce token xsrf"
CHANGES, OTHER_TEXT, OF_A_VISIT = (frozenset(one.split()) for one in (_CHANGES, _OTHER_TEXT, _OF_A_VISIT))
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


class _Draft(NamedTuple):
    """A form, while its fields are collected."""

    action: str
    encoding: str  # in which it is sent; "": that of its page
    fields: list[tuple[str, str]]  # sent as they are
    texts: list[str]  # names of text fields


class FormReader:
    """Receives lxml's events, as `Reader` does, and keeps the forms that may be filled in."""

    def __init__(self) -> None:
        self.found: list[_Draft] = []
        self._form: _Draft | None = None
        self._is_refused = False  # something in the open form says that it is none of ours
        self._has_button = False
        self._select = ""  # name of the open one
        self._options: list[tuple[bool, str | None]] = []  # of the open select: chosen?, value
        self._label: list[str] = []  # of the open option

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "form" and self._form is None:
            accepted = map(python_name, attributes.get("accept-charset", "").split())
            action = attributes.get("action", "").strip()
            self._form = _Draft(action, next(filter(None, accepted), ""), [], [])
            self._is_refused = attributes.get("method", "").strip().lower() not in ("", "get")
            self._is_refused |= "nofollow" in attributes.get("rel", "").lower().split()
            self._has_button = False
        if self._form is None or "disabled" in attributes:
            return
        match tag:
            case "input":
                self._input(self._form, attributes)
            case "button" if attributes.get("type", "submit").lower() == "submit":
                self._button(self._form, attributes)
            case "textarea":
                self._is_refused = True
            case "select":
                self._select, self._options = attributes.get("name", ""), []
            case "option":
                self._options.append(("selected" in attributes, attributes.get("value")))
                self._label = []

    def end(self, tag: str) -> None:
        if self._form is None:
            return
        if tag == "option" and self._options and self._options[-1][1] is None:
            self._options[-1] = (self._options[-1][0], " ".join("".join(self._label).split()))
        elif tag == "select" and self._select:
            chosen = next((one for one in self._options if one[0]), None) or next(iter(self._options), None)
            if chosen:
                self._form.fields.append((self._select, chosen[1] or ""))
            self._select = ""
        elif tag == "form":
            draft, self._form = self._form, None
            is_small = len(draft.fields) <= MAX_FIELDS and len(self.found) < MAX_FORMS
            if is_small and not self._is_refused and len(draft.texts) == 1:
                self.found.append(draft)

    def data(self, chunk: str) -> None:
        if self._select:
            self._label.append(chunk)

    def close(self) -> None:
        pass

    def _input(self, form: _Draft, attributes: Attributes) -> None:
        kind, name = attributes.get("type", "").strip().lower(), attributes.get("name", "")
        value = attributes.get("value", "")
        if kind in PERSONAL or (kind == "hidden" and _has(name, OF_A_VISIT)):
            self._is_refused = True
        elif kind == "submit":
            self._button(form, attributes)
        elif kind in UNSENT or not name or (kind in TICKED and "checked" not in attributes):
            return
        elif kind in TEXT and "readonly" not in attributes:
            form.texts.append(name)
            self._is_refused |= _has(name, OTHER_TEXT)
        else:
            form.fields.append((name, value or ("on" if kind in TICKED else "")))

    def _button(self, form: _Draft, attributes: Attributes) -> None:
        """Only the first one counts, which Enter presses."""
        if self._has_button:
            return
        self._has_button = True
        self._is_refused |= not {"formaction", "formmethod"}.isdisjoint(attributes)
        if name := attributes.get("name"):
            form.fields.append((name, attributes.get("value", "")))


def search_forms(
    html: str, base: str, protocols: Collection[str], encoding: str = "utf-8"
) -> tuple[Link, ...]:
    """Return for each search form the link to what it asks for when nothing is typed in, its text field last.

    No link is followed: `refused` says "form", unless it is refused as any other.

    Args:
        html: what `markup` returned.
        base: what relative links are relative to.
        encoding: Python's name of the page's.
    """
    if "<form" not in html.lower():
        return ()
    reader = FormReader()
    feed(html, reader)
    found = {
        link.id: link
        for draft in reader.found
        if (link := _link(draft, base, protocols, draft.encoding or encoding))
    }
    return tuple(found.values())


def with_forms(links: Sequence[Link], forms: Sequence[Link]) -> tuple[Link, ...]:
    """The links of a page with those of its forms, one for each target; a link to one is followed, too."""
    of_forms = {link.id: link for link in forms}
    marked = [
        link._replace(rel=FORM_AND_LINK) if not link.rel and link.id in of_forms else link for link in links
    ]
    known = {link.id for link in links}
    return (*marked, *(link for id, link in of_forms.items() if id not in known))


def _link(draft: _Draft, base: str, protocols: Collection[str], encoding: str) -> Link | None:
    (name,) = draft.texts
    encoding = "utf-8" if encoding.startswith("utf") else encoding
    try:
        program = resolve(draft.action or base, base).partition("#")[0].partition("?")[0]
        if _has(program.partition("://")[2].partition("/")[2], CHANGES):
            return None
        sent = urlencode([*draft.fields, (name, "")], encoding=encoding, errors="xmlcharrefreplace")
        target = outlink(f"{program}?{sent}", base, protocols)
    except UnfetchableUrl:
        return None
    if not target.url.startswith("http"):  # GET is of HTTP
        return None
    fields = parse_qsl(target.url.partition("?")[2], keep_blank_values=True, encoding=encoding)
    if not fields or fields[-1] != (name, ""):  # a name that canonical URLs leave out
        return None
    return Link(target.url, target.id, target.spelling, rel=FORM, refused=target.refused or FORM)


def _has(text: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(word.lower() for word in _WORD.findall(text))
