"""What a page says itself, its main content, and whether two pages say nearly the same.

A block is a line of a text, such as a paragraph or an entry of a menu. Digests of blocks tell which of them
repeat over the pages of a server. A whole text has a 64-bit fingerprint, in which a small edit changes few
bits.

Sources: Charikar 2002, "Similarity Estimation Techniques from Rounding Algorithms", 3; for web pages Manku,
Jain, Das Sarma 2007, "Detecting Near-Duplicates for Web Crawling", 2.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate, chain
from typing import TYPE_CHECKING
from zlib import crc32

from webcrawler.records import Section, Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    return dict.fromkeys(_digests(edges)).keys()


def packed(digests: Collection[int]) -> bytes:
    """Store digests, four bytes each."""
    return struct.pack(f"<{len(digests)}I", *digests)


def unpacked(data: bytes) -> tuple[int, ...]:
    """Return what `packed` was given."""
    return struct.unpack(f"<{len(data) // 4}I", data)


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
    sections = tuple(Section(moved(start), name, heading) for start, name, heading in text.sections)
    main = outside(text.body, text.around)
    return text._replace(body=main, emphasis=emphasis, around=(), sections=sections), around


def _repeated(body: str, digests: Collection[int]) -> tuple[tuple[int, int], ...]:
    """Return where the blocks stand that have one of these digests; none where there are no others."""
    lines = body.split("\n")
    repeats = [digest in digests for digest in _digests(map(str.strip, lines))]
    if all(repeat or not line.strip() for repeat, line in zip(repeats, lines, strict=True)):
        return ()
    ends = list(accumulate(len(line) + 1 for line in lines))
    spans = zip([0, *ends], ends, repeats, strict=False)
    return tuple((start, min(end, len(body))) for start, end, repeat in spans if repeat)


def outside(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return what of a text is in none of these spans, ascending, with a blank for each of them."""
    edges = [0, *chain.from_iterable(spans), len(text)]
    return " ".join(text[edges[place] : edges[place + 1]] for place in range(0, len(edges), 2))


def _digests(blocks: Iterable[str]) -> Iterator[int]:
    return map(crc32, map(str.encode, blocks))


NEAR = 3  # bits by which near-duplicates differ at most (Manku 2007, 4.1)
SHINGLE_WORDS = 3  # with 1, unrelated pages among 4,282 of manuals are near; with 2, some of one template
MIN_WORDS = 50  # in a shorter text, one word changes too many bits
MIN_DIFFERENT = 25  # words; a text that says a line over and over is as short as that
MAX_CHARACTERS = 1_000_000  # of a text; the rest is ignored
MAX_WORD_CHARACTERS = 64

# A shingle's hash is a vector multiply-shift (Thorup 2015, "High Speed Hashing for Integers and Strings"):
# the sum of each word's hash times the factor of its place, and of that the middle 64 bits of 128.
_FACTORS = (0x278DDE6E5FD29E45, 0x30AEF4CB4F4BB53D, 0x165667B19E3779F9)


def simhash(text: str) -> int:
    """Return the fingerprint of a text as a signed 64-bit number; 0 where the text is too short for one.

    The fingerprint is that of the text's shingles, runs of three words, each as often as it occurs. Takes
    0.3 ms for 1,000 words. If one of 1,000 words changes, 1.5 bits change on average, and more than NEAR in
    one case of twelve.

    Weakness: a page of much boilerplate and few words of its own is near other pages of its site.
    """
    words = text[:MAX_CHARACTERS].lower().split()
    is_long = len(words) >= MIN_WORDS and len(set(words)) >= MIN_DIFFERENT
    return _majority(_shingle_hashes(words)) if is_long else 0


def distance(one: int, other: int) -> int:
    """Return the number of bits, 0 to 64, in which two fingerprints differ."""
    return ((one ^ other) & 0xFFFF_FFFF_FFFF_FFFF).bit_count()


def _majority(hashes: NDArray[np.uint64]) -> int:
    """Return the signed number whose bits are those that more than half of the hashes have."""
    import numpy as np  # late: whoever asks a catalog only shall not wait for it

    data = hashes.astype("<u8").view(np.uint8).reshape(-1, 8)
    counts = np.unpackbits(data, axis=1, bitorder="little").sum(0, np.int64)
    most = np.packbits(2 * counts > len(hashes), bitorder="little")
    return int.from_bytes(most.tobytes(), "little", signed=True)


def _shingle_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of all runs of SHINGLE_WORDS words."""
    import numpy as np

    if max(map(len, words)) > MAX_WORD_CHARACTERS:  # they stay in memory below
        words = [word[:MAX_WORD_CHARACTERS] for word in words]
    hashes = np.frombuffer(b"".join(map(_hash, words)), "<u8").astype(np.uint64)
    low, high, half = hashes & np.uint64(0xFFFF_FFFF), hashes >> np.uint64(32), np.uint64(32)
    count = len(words) - SHINGLE_WORDS + 1
    middle, carried = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    for place, factor in enumerate(_FACTORS):
        low_factor, high_factor = np.uint64(factor & 0xFFFF_FFFF), np.uint64(factor >> 32)
        one, other = low[place : place + count], high[place : place + count]
        lowest = one * low_factor
        carried += lowest & np.uint64(0xFFFF_FFFF)
        middle += (lowest >> half) + one * high_factor + other * low_factor
        middle += (other * high_factor) << half
    return middle + (carried >> half)


@lru_cache(maxsize=50_000)  # some 10 MB
def _hash(word: str) -> bytes:
    """Return a word's hash, the same in every process."""
    return blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
