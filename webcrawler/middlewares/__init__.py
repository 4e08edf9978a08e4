"""May I fetch this, and what came of it? What stands between frontier and download."""

from webcrawler.middlewares.addresses import AddressMiddleware
from webcrawler.middlewares.compressed import CompressedMiddleware
from webcrawler.middlewares.http import BoundedHandler
from webcrawler.middlewares.outcome import OutcomeMiddleware
from webcrawler.middlewares.refused import Refused
from webcrawler.middlewares.robots import RobotsMiddleware
from webcrawler.middlewares.undecided import UndecidedMiddleware

__all__ = [
    "AddressMiddleware",
    "BoundedHandler",
    "CompressedMiddleware",
    "OutcomeMiddleware",
    "Refused",
    "RobotsMiddleware",
    "UndecidedMiddleware",
]
