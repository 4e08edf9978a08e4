"""Relevance judgments that people give on the search page."""

from webcrawler.web.judge.routes import JudgeForm, Judging

__all__ = ["JudgeForm", "Judging"]
