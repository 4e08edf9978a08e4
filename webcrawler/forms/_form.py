"""A search form, as far as queries need it."""

from __future__ import annotations

from typing import NamedTuple, Self
from urllib.parse import parse_qsl, quote_plus

from webcrawler.records import FORM, Link
from webcrawler.urls import outlink, split


class Form(NamedTuple):
    """A search form that sends its words by GET. One program and one text field are one form."""

    blank: (
        str  # canonical URL of the query for nothing; it ends with the text field: "http://a.example/find?q="
    )
    program: str  # "http://a.example/find"
    field: str  # name of the text field

    @classmethod
    def read(cls, blank: str) -> Self | None:
        """The form that asks for this URL when nothing is typed in; None: its text field is not the last."""
        program, _, query = blank.partition("?")
        fields = parse_qsl(query, keep_blank_values=True)
        return cls(blank, program, fields[-1][0]) if fields and not fields[-1][1] else None

    @property
    def server(self) -> str:
        return split(self.program)[0]

    @property
    def key(self) -> tuple[str, str]:
        """What makes it this form: others may differ in hidden fields, as pages say where one comes from."""
        return self.program, self.field

    def query(self, word: str) -> Link:
        """The link to the first page of results for a word. Words are sent as UTF-8."""
        target = outlink(self.blank + quote_plus(word), self.blank)
        return Link(target.url, target.id, target.spelling, rel=FORM, refused=target.refused)

    def word_of(self, url: str) -> str | None:
        """The word for which a canonical URL shows results, on any page of them; None: it is no query."""
        program, mark, query = url.partition("?")
        if not mark or program != self.program:
            return None
        return dict(parse_qsl(query, keep_blank_values=True)).get(self.field)
