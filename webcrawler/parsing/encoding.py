"""Which characters are these bytes?"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

import webencodings
from chardetng_py import EncodingDetector
from w3lib.encoding import to_unicode

_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF16_LE: "utf-16-le"}

# Where Python's codec is not the one that its name promises on the web: GBK is read as what it is a part of,
# user-defined bytes mean nothing, and encodings that a browser refuses to read are guessed.
_CODECS = {"gbk": "gb18030", "x-user-defined": "cp1252", "replacement": ""}

_HEAD_BYTES = 16_384  # the standard names 1,024 and lets the parser correct itself later; ours does not

_MARKUP = re.compile(
    r"""<!--(?:(?<=<!--)-?>|.*?(?:-->|\Z))     # a comment, to its end
    | <(?P<tag>/?[a-z][^\s>]*)                 # a tag, up to its attributes
    | <[!/?][^>]*>?                            # other declarations
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""[\s/]*(?P<name>[^\s/>][^\s/>=]*)
    (?:\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s>"'][^\s>]*)|(?P<none>(?=>))))?
    (?!\s*=)""",
    re.VERBOSE,
)
_VALUE = r"""\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s;,"']+))"""  # whose quotes nobody may have closed
_CHARSET = re.compile("charset" + _VALUE, re.IGNORECASE)
_PARAMETER = re.compile(r"(?<![^\s;,])([^\s;,=]+)" + _VALUE)  # of a Content-Type
_XML = re.compile(r"""<\?xml\b[^>]*?\bencoding\s*=\s*(?:"([^"\x00-\x20]+)"|'([^'\x00-\x20]+)')""")

_VALID_PER_INVALID = 2  # characters from which on it is UTF-8; text in other encodings has 0.6 at most
_TELLING = re.compile(rb"[\x1b\x80-\xff]")
_TOLD_BYTES = 65_536  # from the first of these on; they take 7 ms
# Letters of ASCII beside others, as Latin script has them. Without two different ones a page is likely in a
# Western language: `£20` or `naïve` alone look Polish or Lithuanian.
_MIXED = re.compile(rb"[A-Za-z][\x80-\xff]|[\x80-\xff][A-Za-z]")


def decode(body: bytes, content_type: str = "", encoding: str = "") -> str:
    """Return the text of a body, without NUL; bytes that are invalid in its encoding become U+FFFD.

    Args:
        encoding: what `encoding_of` returned, where it was asked already.
    """
    text = to_unicode(body, encoding or encoding_of(body, content_type))
    return text.removeprefix("\ufeff").replace("\0", "")


def encoding_of(body: bytes, content_type: str = "") -> str:
    """Return Python's name of a body's encoding: by byte order mark, HTTP, meta elements, or else a guess.

    Source: HTML Standard, 13.2.3.2 Determining the character encoding; the guess is its step 8.
    """
    return declared_encoding(body, content_type) or _guessed(body)


def declared_encoding(body: bytes, content_type: str = "") -> str:
    """Return Python's name of the encoding that the server or the page declares, or ""."""
    for bom, encoding in _BOMS.items():
        if body.startswith(bom):
            return encoding
    if encoding := python_name(_label_of_type(content_type)):
        return encoding
    for label in _declared_labels(body):
        if encoding := python_name(label):
            return "utf-8" if encoding.startswith("utf-16") else encoding  # what names it is ASCII
    return ""


def python_name(label: str) -> str:
    """Return Python's name of the encoding that a label means in the Encoding Standard; "" for none.

    Any other codec of Python (UTF-7, punycode, unicode_escape …) is not an encoding of the web: some hide
    markup, some are quadratic, some make lone surrogates.
    """
    found = webencodings.lookup(label)
    return str(_CODECS.get(found.name, found.codec_info.name)) if found else ""


def _guessed(body: bytes) -> str:
    """UTF-8, also where a few bytes are damaged; else what Firefox would take it for, by the letters."""
    text = body.decode("utf-8", "replace")
    invalid = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    valid = len(text) - len(text.encode("ascii", "ignore")) - invalid
    may_be_japanese = not valid and b"\x1b" in body  # ISO-2022-JP, which has ASCII alone
    if not may_be_japanese and invalid * _VALID_PER_INVALID <= valid:
        return "utf-8"
    first = _TELLING.search(body)
    told = body[max(0, first.start() - 1) :][:_TOLD_BYTES] if first else b""
    detector = EncodingDetector()
    detector.feed(told, last=True)
    is_western = len(set(_MIXED.findall(told))) < 2
    guess = detector.guess(tld=b"edu" if is_western else None, allow_utf8=False)
    return python_name(guess) or guess  # two names are Python's already: cp874 and gb18030


def _label_of_type(content_type: str) -> str:
    parameters = _PARAMETER.finditer(content_type)
    found = next((one for one in parameters if one[1].lower() == "charset"), None)
    return next(filter(None, found.groups()[1:]), "") if found else ""


def _declared_labels(body: bytes) -> Iterator[str]:
    """Yield the encoding labels of a page, meta elements first; also "" and such that no standard knows.

    Source: HTML Standard, 13.2.3.2, "prescan a byte stream to determine its encoding" and "get an XML
    encoding". w3lib's own prescan departs from it in a fifth of the html5lib encoding cases.
    """
    head = body[:_HEAD_BYTES].decode("latin-1")
    if "charset" not in (lower := head.lower()) and "encoding" not in lower:
        return  # saves up to 5 ms
    at = 0
    while found := _MARKUP.search(head, at):
        at = found.end()
        if tag := found["tag"]:
            attributes, at = _attributes(head, at)
            if tag.lower() == "meta":
                yield _label(attributes)
    if declaration := _XML.match(head):
        yield declaration[1] or declaration[2]


def _attributes(head: str, at: int) -> tuple[dict[str, str], int]:
    attributes: dict[str, str] = {}
    while found := _ATTRIBUTE.match(head, at):
        value = found["double"] or found["single"] or found["bare"] or ""
        attributes.setdefault(found["name"].lower(), value)
        at = found.end()
    return attributes, at


def _label(attributes: dict[str, str]) -> str:
    if "charset" in attributes:
        return attributes["charset"]
    pragma = attributes.get("http-equiv", "").lower() == "content-type"
    found = _CHARSET.search(attributes.get("content", "")) if pragma else None
    return next(filter(None, found.groups()), "") if found else ""
