"""Queries from a grammar, bent at random; and the worst by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

_SPECIAL = (
    "\"()+-~*:'’“”|&!^\\/%#?@[]{}<>=,.;\0\t\n\r\x0b\x1f\x7f\x85\xa0\u200b\u200f\u202e\u2028\ufeff\ufffd"
)
_SPECIAL += "\u0301\u0338\u20dd\ud800\udfff\U0001f926\U0001f3fd\u0130ßſıŉΐﬃ㎒½①٣日本語กำअॐעבע"
_STOP_WORDS = ("the", "of", "and", "to", "a", "in", "is", "not", "or", "who")
_MOST = 3_000  # characters


def odd_queries(seed: int, terms: Sequence[str], hosts: Sequence[str]) -> Iterator[str]:
    """Without end: three in four from the grammar, half of them bent, the others of random characters."""
    chance = Random(seed)
    last = ""
    while True:
        if chance.random() < 0.75:
            text = _group(chance, terms, hosts, depth=chance.choice((0, 1, 1, 2, 3, 9)))
        else:
            text = "".join(chance.choices(_SPECIAL + "abcOR 01", k=int(chance.paretovariate(0.6)) % _MOST))
        for _ in range(chance.choice((0, 0, 1, 3, 10))):
            text = _bent(chance, text, last)
        yield text[:_MOST]
        last = text[:_MOST]


def _group(chance: Random, terms: Sequence[str], hosts: Sequence[str], depth: int) -> str:
    joins = chance.choices((" ", " OR ", " AND ", " NOT ", ""), (12, 3, 3, 1, 0.3), k=9)
    several = range(min(9, int(chance.paretovariate(1.2))))
    return "".join(_unit(chance, terms, hosts, depth) + joins[n] for n in several)


def _unit(chance: Random, terms: Sequence[str], hosts: Sequence[str], depth: int) -> str:
    sign = chance.choices(("", "+", "-"), (8, 1, 1))[0]
    field = chance.choices(("", "title:", "site:", "link:", "body:"), (16, 1, 0.2, 0.2, 0.2))[0]
    if depth and chance.random() < 0.5:
        return f"{sign}{field}({_group(chance, terms, hosts, depth - 1)})"
    return sign + field + _leaf(chance, terms, hosts)


def _leaf(chance: Random, terms: Sequence[str], hosts: Sequence[str]) -> str:
    words = chance.choices(
        (*_STOP_WORDS, *chance.choices(terms, k=30)), k=min(40, int(chance.paretovariate(1)))
    )
    number, host = int(chance.paretovariate(0.3)) % 10**12, chance.choice(hosts)
    return chance.choices(
        [
            words[0],
            f'"{" ".join(words)}"',
            f'"{" ".join(words)}"~{number}',
            f"{words[0]}~{number} {words[-1]}",
            f"{words[0][: chance.randint(1, 4)]}*",
            f"site:{host}",
            f"link:http://{host}/",
        ],
        (10, 3, 1, 1, 1, 0.5, 0.5),
    )[0]


def _bent(chance: Random, text: str, other: str) -> str:
    """A character or a run of them put in, taken out, repeated, or taken from another query."""
    start, end = sorted(chance.choices(range(len(text) + 1), k=2))
    changed = (
        chance.choice(_SPECIAL),
        "",
        text[start:end] * chance.choice((2, 2, 5, 100)),
        other[start : start + 50],
        text[start:end].swapcase(),
        text[start:end][::-1],
    )
    return (text[:start] + chance.choice(changed) + text[end:])[: 4 * _MOST]


def worst_queries(common: Sequence[str], hosts: Sequence[str]) -> dict[str, str]:
    """A hundred queries by what is bad about them; `common` are the most frequent terms, at least 60."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = " ".join(common[:60])
    pairs = [a + b for a in letters for b in "aeiou"]
    one, two = common[0], common[1]
    return {
        "nothing": "",
        "5,000 parentheses open": "(" * 5_000,
        "5,000 parentheses closed": ")" * 5_000,
        "5,000 parentheses around a word": "(" * 5_000 + one + ")" * 5_000,
        "parentheses to and fro": ")(" * 1_000 + one,
        "minus and parenthesis, often": "-(" * 900 + one,
        "empty parentheses": "()" * 900 + one,
        "eight deep, as wide as it goes": "(" * 8 + words + ")" * 8,
        "title of title of title": "title:(" * 200 + one,
        "a chain of NOT": "NOT " * 400 + one,
        "a chain of NOT in parentheses": "NOT (" * 300 + one,
        "NOT everything": " ".join(f"-{word}" for word in common[:50]),
        "one word and 49 exclusions": f"{one} " + " ".join(f"-{word}" for word in common[1:50]),
        "any that is not": " OR ".join(f"-{word}" for word in common[:49]) + f" OR {one}",
        "a chain of AND": " AND ".join(common[:50]),
        "a chain of OR": " OR ".join(common[:50]),
        "only operators": "AND OR NOT " * 150,
        "AND OR": f"{one} AND OR AND OR NOT {two}",
        "prefixes of one letter": " OR ".join(f"{letter}*" for letter in letters),
        "prefixes of two letters": " OR ".join(f"{pair}*" for pair in pairs[:50]),
        "prefixes demanded": " ".join(f"+{pair}*" for pair in pairs[:50]),
        "prefixes excluded": f"{one} " + " ".join(f"-{pair}*" for pair in pairs[:50]),
        "prefixes in titles": " ".join(f"title:{pair}*" for pair in pairs[:50]),
        "a star": "*",
        "stars": "*" * 1_900,
        "a star before": f"*{one}",
        "a star within": f"{one[:1]}*{one[1:]}",
        "10,000 words": " ".join(common[n % len(common)] for n in range(10_000)),
        "10,000 times one word": f"{one} " * 10_000,
        "a megabyte": "x" * 1_000_000,
        "a megabyte of words": f"{one} " * 200_000,
        "a megabyte of quotes": '"' * 1_000_000,
        "a megabyte of spaces": " " * 1_000_000,
        "a megabyte of accents": "a" + "\u0301" * 1_000_000,
        "a word of 2,000 letters": "a" * 2_000,
        "a word of apostrophes": "a'" * 900,
        "NUL": f"{one}\0{two}",
        "NUL, encoded": f"{one}%00{two}",
        "bad bytes, encoded": "%ff%fe%c0%af",
        "lone surrogates": "\ud800\udc00 \udfff" * 300,
        "combining characters": "".join(f"{c}\u0300\u0301\u0302\u0338" for c in letters) * 15,
        "right to left": f"\u202e{one} עברית العربية\u202c {two}",
        "zero width": "\u200b".join(one) + "\ufeff" + "\u200d".join(two),
        "ligatures that unfold": "\ufdfa" * 1_900,
        "capitals that grow": "ŉΐİßﬃ" * 390,
        "full width": "ｍｏｌｅｃｕｌａｒ ＯＲ （ｂｉｏｌｏｇｙ）",
        "without spaces": "日本語全文検索" * 280,
        "every kind of space": "\u3000\xa0\u2003\x85\x1f".join(common[:50]),
        "emoji": "\U0001f926\U0001f3fd\u200d\u2642\ufe0f" * 300,
        "an open quotation": f'"{words}',
        "quotes": '"' * 1_999,
        "quotes in quotes": '"a "b "c "' * 190,
        "smart quotes": f"“{one} {two}„",
        "a phrase of common words": f'"{words}"',
        "a phrase of two common words": f'"{one} {two}"',
        "a phrase of one word, 50 times": f'"{" ".join([one] * 50)}"',
        "a phrase of stop words": '"to be or not to be"',
        "stop words within": f'"{one} {"the " * 400}{two}"',
        "fifty phrases": " ".join(f'"{a} {b}"' for a, b in pairwise(common[:51])),
        "phrases excluded": f"{one} " + " ".join(f'-"{a} {b}"' for a, b in pairwise(common[:51])),
        "proximity of huge N": f'"{one} {two}"~{"9" * 1_900}',
        "proximity of all": f'"{words}"~1000',
        "proximity of 0": f'"{one} {two}"~0',
        "proximity of nothing": '""~5 ~5 ~ "~" "~5',
        "proximity of two common words": f"{one}~1000 {two}",
        "a chain of proximities": " ".join(f"{word}~99" for word in common[:50]),
        "proximity and stop words": f"{one}~5 {'the ' * 400}{two}",
        "stop words": "the of and to a in is not or who " * 50,
        "the most common word": one,
        "fifty common words": words,
        "fifty common words demanded": " ".join(f"+{word}" for word in common[:50]),
        "fifty common words in titles": " ".join(f"title:{word}" for word in common[:50]),
        "a field of nothing": "title: site: link:",
        "fields that are none": "body:x path:/etc/passwd _id:1 number:7 __class__:x server:a meta:b anchor:c",
        "fields in fields": "title:site:link:title:site:link:x",
        "a field of a field": "title:(site:(link:(title:x)))",
        "all sites": "site:com OR site:org OR site:net OR site:test",
        "fifty sites": " OR ".join(f"site:{hosts[n % len(hosts)]}" for n in range(50)),
        "no site": "-site:com -site:org x",
        "a site that is none": "site:%00 site:.. site:[ site:] site:: site:@ site:// site:\u0660",
        "a site of numbers": "site:0x7f.1 site:2130706433 site:[::ffff:127.0.0.1]:99999",
        "a site of 2,000 letters": "site:" + "a." * 990,
        "links to nowhere": " ".join("link:http://nowhere.invalid/" for _ in range(50)),
        "links that are none": "link:javascript:alert(1) link:file:///etc/passwd link:http://[ link:\0",
        "links to sites": " OR ".join(f"link:http://{hosts[n % len(hosts)]}/" for n in range(50)),
        "a link of 2,000 letters": "link:http://a.example/" + "%2e%2e/" * 280,
        "ranges": "[a TO z] {* TO *} number:[0 TO 999999]",
        "fuzzy": f"{one}~0.5 {two}^1000 {one}~~~",
        "regular expressions": "/(a+)+$/ (.*)*x " + "a" * 60 + "!",
        "SQL": "'; DROP TABLE urls; --",
        "a template": "{{7*7}} ${7*7} <%= 7*7 %> {% raw %}",
        "markup": '<script>alert(1)</script> "><img src=x onerror=alert(1)>',
        "a format": "%s%n%x {0.__class__} %(x)s",
        "JSON": '{"$gt": "", "query": {"match_all": {}}}',
        "a path": "../../../../etc/passwd\0.html",
        "control characters": "".join(map(chr, range(32))) + one,
        "a terminal's": f"\x1b[2J\x1b]0;owned\x07{one}",
        "line ends": f"{one}\r\nSet-Cookie: x=1\r\n\r\n{two}",
        "every sign": "".join(map(chr, range(33, 127))),
        "signs": "+-" * 990 + one,
    }
