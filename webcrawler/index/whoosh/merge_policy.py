"""Which segments become one, and when: few make queries fast, merging writes all of them again."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from whoosh.writing import OPTIMIZE

SEGMENTS_PER_TIER = 8
FEW_SEGMENTS = 3  # not worth an optimize

MergePolicy = Callable[[Any, list[Any]], list[Any]]


def tiered(max_documents: int) -> MergePolicy:
    """Merges the segments of a size class once there are eight; a class holds eight times the one before.

    So a document is written again once a class, log8(documents) times in all. `max_documents` caps what one
    commit merges.
    """

    def policy(writer: Any, segments: list[Any]) -> list[Any]:
        merged: list[Any] = []
        for members in _tiers(segments):
            if len(members) >= SEGMENTS_PER_TIER and _documents(merged + members) <= max_documents:
                merged += members
        if merged:
            sys.audit("webcrawler.index.merging")
        OPTIMIZE(writer, merged)
        return [segment for segment in segments if segment not in merged]

    return policy


def _tiers(segments: list[Any]) -> list[list[Any]]:
    tiers: defaultdict[int, list[Any]] = defaultdict(list)
    for segment in segments:
        tiers[(max(segment.doc_count(), 1).bit_length() - 1) // 3].append(segment)
    return [tiers[tier] for tier in sorted(tiers)]


def _documents(segments: list[Any]) -> int:
    return sum(segment.doc_count_all() for segment in segments)
