"""Rich Text Format: its text, and where its links lead.

Weakness: headings, emphasis and the words of links are not told apart from other text.
"""

from __future__ import annotations

import re

from striprtf import striprtf

from webcrawler.parsing.documents.reading import Target, described
from webcrawler.parsing.documents.text import paragraphs

_LINK = re.compile(r'HYPERLINK\s+"([^"{}\\\s]{1,2000})"')
_TITLE = re.compile(r"{\\title ([^{}]{1,1000})}")


def _text(rtf: str) -> str:
    """The text; characters beyond the basic plane come as two surrogates."""
    text: str = striprtf.rtf_to_text(rtf, errors="replace")  # type: ignore[no-untyped-call]
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read(body: bytes, _: str, target: Target) -> None:
    rtf = body.decode("latin-1")  # RTF is ASCII: what is not stands in escapes
    title = _TITLE.search(rtf)
    described(target, _text(f"{{\\rtf1 {title[1]}}}") if title else "")
    paragraphs(target, _text(rtf).replace("\n", "\n\n"))
    for found in _LINK.finditer(rtf):
        target.start("a", {"href": found[1]})
        target.end("a")
