"""How many new records would each word bring? Arithmetic over arrays.

Source: Ntoulas, Zerfos and Cho 2005, "Downloading Textual Hidden Web Content Through Keyword Queries": the
adaptive policy, for sites that show a limited number of results.
Departs from their estimates: records that many queries have brought are not like those that none has brought.
A word's share of the unseen records is that among the records seen, where one that n queries have brought
counts REPEATED^(n - 1): nearly the records that were brought once, by which Good 1953, "The Population
Frequencies of Species", estimates what is unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

REPEATED = 0.2
LATEST = 20  # queries by which the unseen records are estimated: early ones were of the most frequent words
FIRST_GUESS = 10  # unseen records to a seen one, while no query has brought anything twice


class Past(NamedTuple):
    """What queries have brought, in their order. What was seen before the first is not hidden."""

    results: Integers  # of each query, different ones
    hidden: Integers  # of them those that were not seen before the first query
    new: Integers  # of those, the ones that no earlier query had brought
    before: Integers  # how many hidden records were seen before each query


def past(queries: Integers, results: Integers) -> Past:
    """Tell new results from old ones, whatever order they are given in.

    Args:
        queries: of each result, the query that has brought it, by the number of its page.
        results: page numbers; 0 is none, for queries without results. Numbers grow in the order of discovery,
            so what a query has brought to light has a higher one than the query.
    """
    pairs = np.unique(np.column_stack((queries, results)), axis=0).reshape(-1, 2)
    names, query = np.unique(pairs[:, 0], return_inverse=True)
    record, count = pairs[:, 1], len(names)
    is_hidden = record > (names[0] if count else 0)
    first = np.zeros(len(record), bool)
    first[np.unique(record, return_index=True)[1]] = True  # pairs are in the order of their queries
    is_new = first & (record > pairs[:, 0])
    total, hidden, new = (
        np.bincount(query[which], minlength=count) for which in (record > 0, is_hidden, is_new)
    )
    return Past(total, hidden, new, np.cumsum(new) - new)


def unseen(told: Past) -> float:
    """Estimate how many records are still hidden, by how many results of the latest queries were known.

    Source: the method of capture and recapture (Lincoln and Petersen), each query being a catch.
    """
    hidden, new, before = (part[-LATEST:] for part in told[1:])
    seen, known = float(told.new.sum()), float((hidden - new).sum())
    if not known:
        return FIRST_GUESS * (seen + 1)
    return max(1.0, float((hidden * before).sum()) / known - seen)


def shown(told: Past) -> float:
    """The most results that the site shows of a query: the highest number, if it came twice; else any."""
    most = told.results.max(initial=0)
    return float(most) if most and (told.results == most).sum() > 1 else np.inf


def expected_new(
    rows: Integers, words: Integers, brought: Integers, hidden: float, most: float = np.inf, count: int = 0
) -> Floats:
    """Return for each word how many new records a query for it should bring.

    About 10 ns for each word of each page.

    Args:
        rows, words: one of each pair says that this page has this word.
        brought: by how many queries each page was brought.
        hidden: records that nobody has seen.
        most: results that the site shows of a query.
        count: of words; 0: up to the highest.
    """
    weights = REPEATED ** np.maximum(brought - 1, 0.0)
    frequency = np.bincount(words, minlength=count)
    share = np.bincount(words, weights=weights[rows], minlength=count) / max(weights.sum(), 1e-300)
    new = hidden * share
    return np.asarray(new * np.minimum(1.0, most / np.maximum(frequency + new, 1e-300)), np.float64)
