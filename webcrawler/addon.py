"""One line for any Scrapy project: `ADDONS = {"webcrawler.addon.WebCrawlerAddon": 500}`."""

from __future__ import annotations

import logging

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings

from webcrawler.crawl import RobotsMiddleware
from webcrawler.crawl.dropin import SpiderWorker

logger = logging.getLogger(__name__)


class WebCrawlerAddon:
    """Makes every spider of a project use the frontier; the project's own settings win.

    robots.txt is obeyed where ROBOTSTXT_OBEY says so, by our middleware: Scrapy's lets disallowed pages
    through when several wait for one robots.txt, and takes an unreachable one for "allow all".
    """

    def update_settings(self, settings: BaseSettings) -> None:
        settings.set("SCHEDULER", "webcrawler.scheduler.Scheduler", priority="addon")
        if settings["SCHEDULER"] != "webcrawler.scheduler.Scheduler":
            logger.error(
                "SCHEDULER=%s is still set, so the add-on does nothing, and no request goes to the frontier: "
                "remove it and DUPEFILTER_CLASS from the settings (the page Come from scrapy-redis of the "
                "documentation says more)",
                settings["SCHEDULER"],
            )
            return
        settings.setdefault_in_component_priority_dict("EXTENSIONS", SpiderWorker, 0)
        # 429 and 503 ask for rest: the frontier backs off, where Scrapy would ask again at once.
        codes = [code for code in settings.getlist("RETRY_HTTP_CODES") if int(code) not in (429, 503)]
        settings.set("RETRY_HTTP_CODES", codes, priority="addon")
        own = settings.getdict("DOWNLOADER_MIDDLEWARES")
        robots = {RobotsTxtMiddleware, f"{RobotsTxtMiddleware.__module__}.{RobotsTxtMiddleware.__qualname__}"}
        if not robots & own.keys():
            settings.set_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RobotsTxtMiddleware, None)
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RobotsMiddleware, 100)
