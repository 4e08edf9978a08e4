"""In what order are known URLs visited? Pure arithmetic over links; ties go to the oldest.

`MODES` is the table of the modes that come with the crawler, `ordering(mode)` makes the ordering of one, and
`Ordering` is what a user's own is a subclass of. Importing this imports no ordering, and no numpy.
"""

from webcrawler.orderings.base import (
    DAMPING,
    LEAST,
    PRIORITY_MAX,
    Known,
    Ordering,
    Seen,
    Source,
    number,
    whole_number,
)
from webcrawler.orderings.guarded import Guarded
from webcrawler.orderings.registry import (
    MODES,
    Mode,
    arguments_of,
    guarded,
    ordering,
    ordering_type,
    strategies,
)
from webcrawler.orderings.words import is_hot_page, location, words_of

__all__ = [
    "DAMPING",
    "LEAST",
    "MODES",
    "PRIORITY_MAX",
    "Guarded",
    "Known",
    "Mode",
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
