"""A small web to try the crawler on: 12 servers on loopback, about 300 pages, and the web's usual oddities.

`DemoWeb` serves it; `Truth` says what a crawler that keeps to the rules must find.
`python -m webcrawler.demo` serves it by itself.
"""

from webcrawler.demo.truth import Truth
from webcrawler.demo.web import DemoWeb

__all__ = ["DemoWeb", "Truth"]
