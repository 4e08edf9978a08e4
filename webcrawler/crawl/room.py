"""How many large bodies may there be at a time?

32 bodies of 10 MiB on their way, and as many waiting for a parser, would fill the memory.
"""

from __future__ import annotations

from weakref import WeakSet

from scrapy.http import Response

LARGE_BYTES = 2**20  # from here on a body is received only while there is room
PLACES = 4  # of large bodies that are received, or inflated, at a time
HELD_BYTES_MAX = 32 * 2**20  # of those that wait for the spider and the pipelines
POLL_SECONDS = 0.05


class Room:
    """Says whether there is room for another large body."""

    def __init__(self) -> None:
        self._taken = 0
        self._held: WeakSet[Response] = WeakSet()

    def take(self) -> bool:
        """Takes a place, if there is room; `give` gives it back."""
        has_room = self._taken < PLACES and sum(len(one.body) for one in self._held) < HELD_BYTES_MAX
        self._taken += has_room
        return has_room

    def give(self) -> None:
        self._taken -= 1

    def hold(self, response: Response) -> None:
        """Counts a large response for as long as it is in memory."""
        if len(response.body) > LARGE_BYTES:
            self._held.add(response)
