"""A small web to try the crawler on: 12 servers on loopback, about 300 pages, and the web's usual oddities.

`DemoWeb` serves it; `python -m webcrawler.demo` does so until Ctrl-C.
"""

from webcrawler.demo.web import DemoWeb

__all__ = ["DemoWeb"]
