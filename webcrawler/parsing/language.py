"""In which language is this text? What the page says, unless its words say otherwise."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import Any

LEAST_CHARACTERS = 300  # of a text whose language is detected
_PIECES, _PIECE_CHARACTERS = 3, 150  # of a long text: its beginning may be a licence, or code
_SURE = 0.9  # at which detection is believed against what the page says
_LIKELY = 0.5  # at which it is believed where the page says nothing

# Codes that ISO 639 gave up, and those of countries that pages mistake for languages.
_MISTAKEN = {"iw": "he", "in": "id", "ji": "yi", "jp": "ja", "cn": "zh", "kr": "ko", "cz": "cs", "dk": "da"}

_HEAD_CHARACTERS = 16_384
# The parser's events leave the attributes of the html element out.
_HTML = re.compile(r"<html\b[^<>]*?\s(?:xml:)?lang\s*=\s*[\"']?([a-z][\w-]*)", re.IGNORECASE)


def declared(html: str) -> str:
    """Return the language that the html element of a page declares, "" where it declares none."""
    found = _HTML.search(html, 0, _HEAD_CHARACTERS)
    return subtag(found[1]) if found else ""


def subtag(tag: str) -> str:
    """Return the primary subtag of a language tag (RFC 5646), "de" of "de-AT"; "" for anything else."""
    if "," in tag:
        return ""
    primary = tag.strip().lower().replace("_", "-").partition("-")[0]
    is_code = primary.isascii() and primary.isalpha() and 2 <= len(primary) <= 3 and primary != "und"
    return _MISTAKEN.get(primary, primary) if is_code else ""


def language(text: str, said: str = "") -> str:
    """Return the language of a text as an ISO 639 code, "" where it is not known.

    Detection takes about 0.3 ms. What is shorter than `LEAST_CHARACTERS` has the language that is declared,
    and so has a text in a language that the detector does not know.

    Weakness: a text in two languages has one.

    Args:
        said: the language that is declared, a primary subtag.
    """
    if len(text) < LEAST_CHARACTERS:
        return said
    best, chance = detector().classify(_sample(text))
    if chance >= _SURE and (not said or said in detector().nb_classes):
        return str(best)
    return said or (str(best) if chance >= _LIKELY else "")


def _sample(text: str) -> str:
    step = max(len(text) // _PIECES, _PIECE_CHARACTERS)
    return " ".join(text[start : start + _PIECE_CHARACTERS] for start in range(0, len(text), step))


@cache
def detector() -> Any:
    """The detector; the first call loads 60 MB and takes a second.

    Only languages with a code of two letters: the others are mistaken for English with a lot of code.
    """
    import numpy as np
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([label for label in identifier.labels if len(label) == 2])
    identifier.nb_ptc = np.ascontiguousarray(identifier.nb_ptc)  # by rows, as it is read: twice as fast
    with suppress(AttributeError):  # of another version
        identifier._full_model = None  # 28 MB with the other languages
    return identifier
