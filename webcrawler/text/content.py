"""What a page says itself, its main content, and what stands around that.

A block is a line of a text, such as a paragraph or an entry of a menu. Digests of blocks tell which of them
repeat over the pages of a server.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable
from itertools import accumulate, chain
from sys import byteorder
from zlib import crc32

from webcrawler.records import Text

EDGE = 32  # first and last blocks of a page whose digests are known: what repeats stands there


def split(text: Text, repeated: Collection[int] = ()) -> tuple[Text, str]:
    """Return the text with only the main content as its body, and what stands around that.

    Emphasis and sections move with their words; a section that starts outside the main content starts where
    the main content goes on. A blank stands for each span that is left out, so that no two words become one.

    Args:
        repeated: digests of blocks that are no main content either, unless a page has no others.
    """
    main, around = _split(text)
    if spans := _repeated(main.body, repeated) if repeated else ():
        main, more = _split(main._replace(around=spans))
        around = f"{around}\n{more}"
    return main, around


def digests(text: Text) -> Collection[int]:
    """Return the digests of the first and last blocks of the main content, each once, in their order."""
    blocks = [block for line in outside(text.body, text.around).split("\n") if (block := line.strip())]
    edges = blocks if len(blocks) <= 2 * EDGE else blocks[:EDGE] + blocks[-EDGE:]
    return dict.fromkeys(map(_digest, edges)).keys()


def packed(digests: Iterable[int]) -> bytes:
    """Store digests, four bytes each."""
    numbers = array("I", digests)
    if byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(data: bytes) -> array[int]:
    """Return what `packed` was given."""
    numbers = array("I", data)
    if byteorder != "little":
        numbers.byteswap()
    return numbers


def _split(text: Text) -> tuple[Text, str]:
    if not text.around:
        return text, ""
    starts = [start for start, _ in text.around]
    # how far what stands behind each span moves to the left
    moves = [0, *accumulate(end - start - 1 for start, end in text.around)]

    def moved(offset: int) -> int:
        span = bisect_right(starts, offset) - 1
        if span >= 0 and offset < text.around[span][1]:
            return starts[span] - moves[span]
        return offset - moves[span + 1]

    around = "\n".join(text.body[start:end] for start, end in text.around)
    emphasis = tuple((moved(start), moved(end), size) for start, end, size in text.emphasis)
    sections = tuple(section._replace(start=moved(section.start)) for section in text.sections)
    main = outside(text.body, text.around)
    return text._replace(body=main, emphasis=emphasis, around=(), sections=sections), around


def _repeated(body: str, digests: Collection[int]) -> tuple[tuple[int, int], ...]:
    """Return where the blocks stand that have one of these digests; none where there are no others."""
    lines = body.split("\n")
    repeats = [digest in digests for digest in map(_digest, map(str.strip, lines))]
    if all(repeat or not line.strip() for repeat, line in zip(repeats, lines, strict=True)):
        return ()
    ends = list(accumulate(len(line) + 1 for line in lines))
    spans = zip([0, *ends], ends, repeats, strict=False)
    return tuple((start, min(end, len(body))) for start, end, repeat in spans if repeat)


def outside(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return what of a text is in none of these spans, ascending, with a blank for each of them."""
    edges = [0, *chain.from_iterable(spans), len(text)]
    return " ".join(text[edges[place] : edges[place + 1]] for place in range(0, len(edges), 2))


def _digest(block: str) -> int:
    return crc32(block.encode())
