"""In what order are known URLs visited? Arithmetic over links and texts; ties go to the oldest.

`MODES` is the table of the modes that come with the crawler, and `ordering(mode)` makes the ordering of one.
Subclass `Ordering` to write your own. Importing this imports no numpy and no analysis of texts; orderings
that need them are imported when they are asked for, and `topic` has what they share.
"""

from webcrawler.orderings.base import (
    DAMPING,
    LEAST,
    PRIORITY_MAX,
    UNKNOWN,
    UNTOLD,
    Known,
    Ordering,
    Seen,
    Source,
    number,
    whole_number,
)
from webcrawler.orderings.registry import MODES, arguments_of, guarded, ordering, ordering_type, strategies
from webcrawler.orderings.words import is_hot_page, location, words_of

__all__ = [
    "DAMPING",
    "LEAST",
    "MODES",
    "PRIORITY_MAX",
    "UNKNOWN",
    "UNTOLD",
    "Known",
    "Ordering",
    "Seen",
    "Source",
    "arguments_of",
    "guarded",
    "is_hot_page",
    "location",
    "number",
    "ordering",
    "ordering_type",
    "strategies",
    "whole_number",
    "words_of",
]
