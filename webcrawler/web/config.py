"""What the search page is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Config:
    """Plain values; the command reads them from settings."""

    crawl_dir: Path
    title: str = "webcrawler"  # what the page calls itself
    host: str = "127.0.0.1"  # that it listens on
    engine: str = "whoosh"
    reference: str = ""  # file of reference frequencies; "": general English
    redis_url: str = ""  # "": the embedded server of crawl_dir, where one runs
    feedback: bool = False  # may visitors judge results?
    rate: str = "6000/minute"  # requests of one client; "": any number
    trusted_proxies: tuple[str, ...] = ()  # networks whose X-Forwarded-For is believed; "unix": a Unix socket
    hosts: tuple[str, ...] = ()  # names it answers for, beside those of loopback
    metrics_for: tuple[str, ...] = ("127.0.0.0/8", "::1")  # networks that may read /metrics
    url: str = ""  # where people reach it, "https://search.example.org"; "": as each asks
    deadline_seconds: float = 1.0  # for one search
    fresh_seconds: float = 0.5  # that a new commit of the index may be overlooked
    threads: int = 2  # that search
    live: str = "loopback"  # who may have the web searched: "loopback", "all" or "off"
    live_jobs: int = 2  # such searches at once
    live_seconds: int = 120  # for one of them, at most
    live_pages: int = 300  # that one of them may fetch
    scrapyd: str = ""  # URL of the Scrapyd that runs them; "": child processes
    scrapyd_project: str = "webcrawler"
    told: tuple[tuple[str, str], ...] = ()  # settings that such a search has to be given, beside the folder
