"""The values that a crawl takes from settings."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy.settings import BaseSettings

from webcrawler.frontier import Budgets, Politeness


def read_words(value: str | Sequence[str]) -> list[str]:
    """The words of a list setting, "http, https" as well; lower case."""
    found = value.split(",") if isinstance(value, str) else value
    return [word.strip().lower() for word in found if word.strip()]


def read_politeness(settings: BaseSettings, no_delay: bool = False) -> Politeness:
    """How servers are treated; the demo web is ours and needs no pauses."""
    return Politeness(
        delay=0.0 if no_delay else settings.getfloat("FRONTIER_DELAY"),
        crawl_delay_max=0.0 if no_delay else settings.getfloat("CRAWL_DELAY_MAX"),
        slowness=settings.getfloat("FRONTIER_SLOWNESS"),
        server_concurrency=settings.getint("FRONTIER_SERVER_CONCURRENCY"),
        tries=settings.getint("FRONTIER_TRIES"),
        backoff=0.2 if no_delay else settings.getfloat("FRONTIER_BACKOFF"),
        deaths=settings.getint("FRONTIER_DEATHS"),
    )


def read_budgets(settings: BaseSettings) -> Budgets:
    """How many URLs of each server, domain and path prefix are added."""
    share, _, of = str(settings["BUDGET_DOMAIN_SHARE"]).partition("/")
    return Budgets(
        server=settings.getint("BUDGET_SERVER"),
        domain=settings.getint("BUDGET_DOMAIN"),
        domain_servers=settings.getint("BUDGET_DOMAIN_SERVERS"),
        prefix=settings.getint("BUDGET_PREFIX"),
        share=int(share or 0),
        share_of=int(of or 0),
        queued=settings.getint("FRONTIER_MAX_URLS"),
        repeats=settings.getint("BUDGET_REPEATS"),
    )


def read_user_agent(settings: BaseSettings) -> str:
    """An honest name, and where people can write to."""
    name, contact = settings["USER_AGENT"], settings["USER_AGENT_CONTACT"]
    return f"{name} (+{contact})" if contact and contact not in name else str(name)
