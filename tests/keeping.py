"""A pipeline for crawls of tests that read texts from the catalog."""

from __future__ import annotations

from pipelines.fulltext import FullTextPipeline


class Texts(FullTextPipeline):
    """Keeps what would be indexed, without the processes of an index."""

    feeds = ""
