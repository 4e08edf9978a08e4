"""Times in words, and when a hit was last known to be as it is shown."""

from __future__ import annotations

from datetime import UTC, datetime

from webcrawler.records import Hit

LONG_AGO = 30 * 86_400.0  # from when on people are told a day
SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def day(seconds: float) -> str:
    """ "20 Nov 2026"; UTC."""
    then = datetime.fromtimestamp(seconds, UTC)
    return f"{then.day} {then:%b %Y}"


def span(seconds: float) -> str:
    """ "0.5 s", "3 s", "2 min", "5 h", "9 d"; rounded down."""
    for length, name in SPANS:
        if seconds >= length:
            return f"{int(seconds // length):,} {name}"
    return f"{seconds:.1f} s" if 0.05 <= seconds < 0.95 else f"{seconds:.0f} s"


def seen(hit: Hit, now: float) -> str:
    """ "checked 2 h ago, unchanged since 3 Nov 2026", "last seen 3 Nov 2026"; "" for what was never fetched.

    The last time that a page was seen is told as a day: by now it may be gone.
    """
    if not hit.fetched:
        return ""
    if hit.missing_since:
        return f"last seen {day(hit.checked)}"
    was_seen_before = 0 < hit.changed < hit.checked and day(hit.changed) != day(hit.checked)
    unchanged = f", unchanged since {day(hit.changed)}" if was_seen_before else ""
    age = max(0.0, now - hit.checked)
    return f"checked {f'{span(age)} ago' if age < LONG_AGO else f'on {day(hit.checked)}'}{unchanged}"
