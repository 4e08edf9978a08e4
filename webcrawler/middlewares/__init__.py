"""May I fetch this, and what came of it? The three of ours between frontier and download."""

from webcrawler.middlewares.addresses import AddressMiddleware
from webcrawler.middlewares.outcome import OutcomeMiddleware
from webcrawler.middlewares.refused import Refused
from webcrawler.middlewares.robots import RobotsMiddleware
from webcrawler.middlewares.undecided import UndecidedMiddleware

__all__ = ["AddressMiddleware", "OutcomeMiddleware", "Refused", "RobotsMiddleware", "UndecidedMiddleware"]
