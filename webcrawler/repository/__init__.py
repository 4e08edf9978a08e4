"""The WARC files as the truth: catalog, index and ranks are made of them again (GO 4.2.2)."""

from webcrawler.repository.rebuild import Rebuilt, rebuild

__all__ = ["Rebuilt", "rebuild"]
