"""Which search forms does a page have, that a crawl may fill in?

Those with one text field that send what is typed by GET (HTML Standard, 4.10.21.3), and change nothing. What
a form does is told by names alone, as people choose them; robots.txt and whoever crawls have the last word.
Weakness: fields that stand outside their form (the attribute `form`) are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from webcrawler.parsing.encoding import python_name
from webcrawler.parsing.markup import tree
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
    """A form that may be filled in, as the page has it."""

    action: str
    encoding: str  # in which it is sent; "": that of its page
    fields: list[tuple[str, str]]  # sent as they are
    text: str  # name of the text field


def _draft(form: Any) -> _Draft | None:
    """Read a form; None for one that is not to be filled in."""
    fields: list[tuple[str, str]] = []
    texts: list[str] = []
    has_button = False
    if form.get("method", "").strip().lower() not in ("", "get"):
        return None
    if "nofollow" in form.get("rel", "").lower().split():
        return None
    for field in form.iter("input", "button", "textarea", "select"):
        kind, name, value = (
            field.get("type", "").strip().lower(),
            field.get("name", ""),
            field.get("value", ""),
        )
        if "disabled" in field.attrib:
            continue
        if field.tag == "textarea" or kind in PERSONAL or (kind == "hidden" and _has(name, OF_A_VISIT)):
            return None
        if kind == "submit" or (field.tag == "button" and not kind):
            if has_button:  # only the first one counts, which Enter presses
                continue
            if not {"formaction", "formmethod"}.isdisjoint(field.attrib):
                return None
            has_button = True
            fields += [(name, value)] if name else []
        elif field.tag == "select":
            fields += [(name, chosen) for chosen in _chosen(field) if name]
        elif kind in UNSENT or not name or (kind in TICKED and "checked" not in field.attrib):
            continue
        elif kind in TEXT and "readonly" not in field.attrib:
            if _has(name, OTHER_TEXT):
                return None
            texts.append(name)
        else:
            fields.append((name, value or ("on" if kind in TICKED else "")))
    if len(texts) != 1 or len(fields) > MAX_FIELDS:
        return None
    accepted = map(python_name, form.get("accept-charset", "").split())
    return _Draft(form.get("action", "").strip(), next(filter(None, accepted), ""), fields, texts[0])


def _chosen(select: Any) -> list[str]:
    """Return the value of the option that is sent, if there is one."""
    options = [one for one in select.iter("option") if "disabled" not in one.attrib]
    option = next((one for one in options if "selected" in one.attrib), next(iter(options), None))
    if option is None:
        return []
    value = option.get("value")  # "" where any will do
    return [" ".join("".join(option.itertext()).split()) if value is None else value]


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
    # Browsers take no notice of a form within another one: its fields are those of the outer one.
    outer = (form for form in tree(html).iter("form") if next(form.iterancestors("form"), None) is None)
    drafts = islice(filter(None, map(_draft, outer)), MAX_FORMS)
    links = (_link(draft, base, protocols, draft.encoding or encoding) for draft in drafts)
    found = {link.id: link for link in links if link}
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
    name = draft.text
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
