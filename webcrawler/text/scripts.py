"""Characters of scripts, as parts of the character classes of regular expressions."""

from __future__ import annotations

from itertools import groupby
from unicodedata import category

_BASIC = 0x10000  # the characters of all languages that are written today are below


def _ranges(codes: list[int]) -> str:
    runs = (list(run) for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0]))
    return "".join(f"\\u{run[0][1]:04x}-\\u{run[-1][1]:04x}" for run in runs)


# Accents, and vowel signs such as those of Hindi and Thai: they belong to the letter before them.
MARKS = _ranges([code for code in range(_BASIC) if category(chr(code)) in ("Mn", "Mc")])

# An expression for what nobody sees within a word, such as soft hyphens. U+200B parts words, and so does
# U+200C in Persian, where others write a space.
UNSEEN = r"[\u00ad\u061c\u180e\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff](?<!\u200c(?=[\u0600-\u06ff]))"

# As keyboards and editors write it: U+02BC is the one of Ukrainian, U+02BB that of Hawaiian, U+055A that of
# Armenian, U+05F3 that of Hebrew.
APOSTROPHES = "'’‘‛ʼʻʹ＇´`′՚׳"

# Of scripts without spaces between words, and of Korean, whose words have endings.
UNSPACED = (
    r"\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0ebd-\u0ec6\u0edc-\u0edf"  # Thai, Lao
    r"\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3"  # Burmese, Khmer
    r"\u3005-\u3007\u3040-\u3098\u309b-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Japanese
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
    r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Korean
)
