"""Strategies are orderings with a query."""

from __future__ import annotations

from urllib.parse import urlencode

from webcrawler.orderings import arguments_of, ordering_type


def mode_of(strategy: str, query: str) -> str:
    """The mode of a strategy, `name` or `name?word=value&…`, that looks for a query.

    Orderings that take none go without. Raises BadInput: there is no such ordering.
    """
    name, _, words = strategy.partition("?")
    if "query" not in arguments_of(ordering_type(name, by_path=True)):
        return strategy
    asked = urlencode({"query": query})
    return f"{name}?{words}&{asked}" if words else f"{name}?{asked}"
