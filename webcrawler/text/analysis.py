"""From text to terms, the same way for documents, queries and the reference domain.

The index has every word (`analysed` of `indexed_words`, and `symbols`); what a text is about is said without
stop words (`terms`, `tokens`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby, pairwise, repeat
from unicodedata import category, normalize

import Stemmer

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


MAX_TERM_CHARACTERS = 40
MAX_TOKENS = 100_000  # of one text that say what it is about

# \w leaves out the combining signs of accents and vowels; an apostrophe counts only inside a word.
_LETTER = rf"[\w{MARKS}]"
_WORD = re.compile(rf"{_LETTER}+(?:'{_LETTER}+)*")
_APOSTROPHE = re.compile(f"[{APOSTROPHES}]")
_UNSEEN = re.compile(UNSEEN)
_RUN = re.compile(rf"[{UNSPACED}{MARKS}]+|[^{UNSPACED}]+")
_UNSPACED = re.compile(rf"[{UNSPACED}]")
_CHARACTER = re.compile(rf".[{MARKS}]*")
# Options with their dashes: -Wall, --no-verify; letters with signs: c++, C#. A literal in front is quick.
_OPTION = re.compile(r"--?[^\W\d_](?:[\w-]*\w)?")
_SIGN = re.compile(r"\+\+(?![^\W\d])|#(?![^\W\d])")
_ACCENT = re.compile("[\u0300-\u036f]")
_UNACCENTED = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "ð": "d", "þ": "th"}
)
# The algorithms of Snowball by ISO 639; one of a script of its own leaves Latin words to that of English.
_STEMMERS = {
    code: name
    for code, name in re.findall(
        r"(\w+) (\w+)",
        """ar arabic, ca catalan, cs czech, da danish, de german, el greek, en english, eo esperanto,
        es spanish, et estonian, eu basque, fa persian, fi finnish, fr french, ga irish, hi hindi,
        hu hungarian, hy armenian, id indonesian, it italian, lt lithuanian, nb norwegian, ne nepali,
        nl dutch, nn norwegian, no norwegian, pl polish, pt portuguese, ro romanian, ru russian, sr serbian,
        st sesotho, sv swedish, ta tamil, tr turkish, yi yiddish""",
    )
    if name in Stemmer.algorithms()  # some are new
}
_NOT_LATIN = frozenset(["ar", "el", "fa", "hi", "hy", "ne", "ru", "ta", "yi"])
_ELIDING = frozenset(("ca", "fr", "it"))  # l'homme, dell'arte


def terms(text: str) -> list[str]:
    """Return the terms of a text in their order, without stop words.

    Weakness: all is read as English; scripts that write without spaces (Chinese, Japanese, Thai) give one
    term a run of letters.
    """
    return [term for term, _ in tokens(text) if term]


def tokens(text: str) -> list[tuple[str, int]]:
    """Return (term, 1 where the word began with a capital) by position; a stop word is "" in its place.

    Reads MAX_TOKENS words.
    """
    return list(tokens_of(words(text)[:MAX_TOKENS]))


def tokens_of(spelled: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Do the same as `tokens` for words that have been split already."""
    return map(_token, spelled)


def analysed(spelled: Iterable[str], language: str = "") -> Iterator[tuple[str, int]]:
    """Return (term, 1 where the word begins with a capital) of every word, as the index has them.

    Args:
        language: of the text, ISO 639; one that has no stemmer is read as English.
    """
    language = language if language in _STEMMERS else "en"
    return map(_analysed, spelled, repeat(language))


@lru_cache(maxsize=200_000)
def readings(word: str, language: str = "") -> tuple[str, ...]:
    """Return the terms by which a word is found: its own, and that of how it is typed without accents."""
    if word.isascii():
        return (next(analysed((word,), language))[0],)
    forms = filter(None, (word, unaccented(lower_case(word))))
    return tuple(dict.fromkeys(term for term, _ in analysed(forms, language)))


def has_stemmer(language: str) -> bool:
    """Tell whether words of a language have other terms than those of English."""
    return language in _STEMMERS


def words(text: str) -> list[str]:
    """Return the words of a text as they are spelled, each cut at MAX_TERM_CHARACTERS."""
    return _cut(_WORD.findall(_plain(text)))


def indexed_words(text: str, single: bool = True) -> list[str]:
    """Do the same, with pairs of characters for the words of scripts that do not put spaces between them.

    Args:
        single: the last character of a run stands by itself as well, so that each character begins a term.
    """
    found = _WORD.findall(_plain(text))
    if not text.isascii() and _UNSPACED.search(text):
        found = [part for word in found for part in _parts(word, single)]
    return _cut(found)


def symbols(text: str) -> list[tuple[int, int, str]]:
    """Return start, end and term of what the index has beside the word that begins there: -Wall, c++, C#."""
    found = [
        (one.start(), one.end())
        for one in _OPTION.finditer(text)
        if not one.start() or not (is_word_character(before := text[one.start() - 1]) or before in "-_")
    ]
    for sign in _SIGN.finditer(text):
        end = start = sign.start()
        while start > max(0, end - MAX_TERM_CHARACTERS) and text[start - 1].isalnum():
            start -= 1
        # "#" behind a longer word leads to a heading
        if start < end and text[start].isalpha() and (sign.group() == "++" or end - start == 1):
            found.append((start, sign.end()))
    return [(start, end, text[start:end].lower()[:MAX_TERM_CHARACTERS]) for start, end in sorted(found)]


def is_unspaced(word: str) -> bool:
    """Tell whether a word begins in a script that is written without spaces."""
    return bool(_UNSPACED.match(word))


def is_word_character(character: str) -> bool:
    """Tell whether a word could go on with this character."""
    return bool(_WORD.match(character) or _UNSEEN.match(character)) or character in APOSTROPHES


def lower_case(text: str) -> str:
    """Return the text as words are compared: lower case, compatibility forms and apostrophes made one."""
    if text.isascii():
        return text.replace("`", "'").lower()
    return normalize("NFKC", _APOSTROPHE.sub("'", text)).lower()


def seen(text: str) -> str:
    """Return a text without the characters that nobody sees within words, such as soft hyphens."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def unaccented(word: str) -> str:
    """Return a word without diacritics, as people type it: "uber" finds "über"."""
    if word.isascii():
        return word
    return normalize("NFC", _ACCENT.sub("", normalize("NFD", word.translate(_UNACCENTED))))


def _plain(text: str) -> str:
    text = text.replace("_", " ")
    return text if text.isascii() else _APOSTROPHE.sub("'", seen(text))


def _cut(found: list[str]) -> list[str]:
    if max(map(len, found), default=0) > MAX_TERM_CHARACTERS:
        return [word[:MAX_TERM_CHARACTERS] for word in found]
    return found


def _parts(word: str, single: bool) -> Iterator[str]:
    for run in _RUN.findall(word):
        if not _UNSPACED.match(run):
            yield from _WORD.findall(run)
            continue
        characters = _CHARACTER.findall(normalize("NFKC", run))
        yield from map("".join, pairwise(characters))
        if single or len(characters) == 1:
            yield characters[-1]


@lru_cache(maxsize=200_000)
def _token(word: str) -> tuple[str, int]:
    return ("", 0) if lower_case(word) in _stop_words() else _analysed(word, "en")


@lru_cache(maxsize=200_000)
def _analysed(word: str, language: str) -> tuple[str, int]:
    lower = lower_case(word)
    if language in _NOT_LATIN and lower.isascii():
        language = "en"
    if language in _ELIDING:
        rest = lower.rpartition("'")[2]
        lower = rest if len(rest) > 1 else lower
    # The stemmer of English knows no accents, and others see them in suffixes: see `readings`.
    spelled = unaccented(lower) if language == "en" else lower
    # A stemmer may leave nothing of a word that is all suffix.
    stem = unaccented(_stemmer(language).stemWord(spelled))[:MAX_TERM_CHARACTERS]
    return stem or lower, int(word[0].isupper())


@cache
def _stop_words() -> frozenset[str]:
    lines = files(__package__).joinpath("stopwords.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    # Its own cache is off: ours holds the whole way from word to term, and stays safe between threads.
    return Stemmer.Stemmer(_STEMMERS[language], 0)
