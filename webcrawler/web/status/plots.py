"""Small plots as SVG: attributes only, as the policy allows no style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from webcrawler.web.units import span

WIDTH, HEIGHT, GAP = 600, 120, 2


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    value: float
    partial: bool  # still going on


@dataclass(frozen=True, slots=True)
class Plot:
    label: str  # what is plotted, for who cannot see it
    top: float  # value at the upper edge
    most: float
    last: float  # of the stretch before the one that is still going on
    from_when: str  # where it begins
    bars: list[Bar]
    width: int = WIDTH
    height: int = HEIGHT


def plot(label: str, counts: Sequence[int], seconds: int) -> Plot:
    """Bars of documents a second; each count is of so many seconds."""
    values = [count / seconds for count in counts]
    top = nice(max(values, default=0.0))
    step = WIDTH / max(1, len(values))
    bars = [
        Bar(
            round(n * step, 2),
            round(HEIGHT - HEIGHT * value / top, 2),
            round(step - GAP, 2),
            round(HEIGHT * value / top, 2),
            value,
            n == len(values) - 1,
        )
        for n, value in enumerate(values)
        if value
    ]
    last = values[-2] if len(values) > 1 else 0.0
    return Plot(label, top, max(values, default=0.0), last, f"{span(len(values) * seconds)} ago", bars)


def nice(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 … or a tenth of those, that is not below."""
    if value <= 0:
        return 1.0
    size = 10.0 ** floor(log10(value))
    return next(size * step for step in (1, 2, 5, 10) if size * step >= value * (1 - 1e-9))
