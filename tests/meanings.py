"""Trees of queries as text of the query language: what a query means, for tables of tests."""

from __future__ import annotations

from webcrawler.text.lexicon import telling
from webcrawler.text.query.nodes import (
    AllOf,
    AnyOf,
    Changed,
    Is,
    Lang,
    Link,
    Node,
    Not,
    Phrase,
    Prefix,
    Site,
    Word,
)


def meaning(node: Node) -> str:
    """A text of which `parse` makes this tree; a clause that is demanded carries its sign."""
    match node:
        case AllOf(nodes):
            return " ".join(map(_demand, nodes))
        case AnyOf(nodes):
            return " OR ".join(map(_choice, nodes))
        case Not(inner):
            return f"-{_atom(inner)}"
        case Word(term, field, spelled):
            # a function word would be skipped, OR an operator, and -x left out
            word = spelled or term
            return _in(field) + (f'"{word}"' if not telling(word) or word.startswith("-") else word)
        case Phrase(terms, field, within, spelled):
            words = " ".join(spelled or terms)
            return f'{_in(field)}"{words}"' + (f"~{within}" if within else "")
        case Prefix(letters, field):
            return f"{_in(field)}{letters}*"
        case Site(host):
            return f"site:{host}"
        case Link(url):
            return f'link:"{url}"'
        case Changed(spelled):
            return f"changed:{spelled}"
        case Lang(code):
            return f"lang:{code}"
        case Is(state):
            return f"is:{state}"


def _in(field: str) -> str:
    return f"{field}:" if field else ""


def _atom(node: Node) -> str:
    return f"({meaning(node)})" if isinstance(node, AllOf | AnyOf | Not) else meaning(node)


def _choice(node: Node) -> str:
    """One of the choices that OR joins; AND joins what would need parentheses otherwise."""
    if isinstance(node, AllOf):
        inner = [part.node if isinstance(part, Not) else part for part in node.nodes]
        flat = not any(isinstance(part, AllOf | AnyOf) for part in inner)
        return " AND ".join(map(meaning, node.nodes)) if flat else f"({meaning(node)})"
    return meaning(node) if isinstance(node, Not) else _atom(node)


def _demand(node: Node) -> str:
    if isinstance(node, Not):
        return meaning(node)
    first, *others = node.nodes if isinstance(node, AnyOf) else (node,)
    start = _choice(first)
    sign = "+" if not start.startswith("-") else ""
    return " OR ".join([f"{sign}{start}" if sign else f"+({start})", *map(_choice, others)])
