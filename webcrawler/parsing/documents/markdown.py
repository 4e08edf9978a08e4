"""Markdown, by CommonMark and with tables, read as the HTML that it stands for."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from webcrawler.parsing.documents.inner import inner_html
from webcrawler.parsing.documents.reading import Target, described
from webcrawler.parsing.encoding import decode

# What site generators keep before the text: YAML between two lines of dashes.
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?\n)---[ \t]*\r?\n", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(\S.*)$", re.MULTILINE)


def read(body: bytes, content_type: str, target: Target) -> None:
    text = decode(body, content_type)
    if front := _FRONT_MATTER.match(text):
        title = _TITLE.search(front[1])
        described(target, title[1].strip().strip("\"'") if title else "")
        text = text[front.end() :]
    html = MarkdownIt("commonmark").enable("table").render(text)
    inner_html(html, target, keeps_relative=True)
