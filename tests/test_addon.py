"""What the add-on sets in a project, and what it leaves to the project."""

from __future__ import annotations

import pytest
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import Settings

from webcrawler.addon import WebCrawlerAddon
from webcrawler.crawl.dropin import SpiderWorker
from webcrawler.crawl.robots import RobotsMiddleware

SCRAPYS = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"


def with_addon(**project: object) -> Settings:
    settings = Settings(project, priority="project")
    WebCrawlerAddon().update_settings(settings)
    return settings


def test_a_project_gets_the_scheduler_its_worker_and_our_robots_txt() -> None:
    settings = with_addon()

    assert settings["SCHEDULER"] == "webcrawler.scheduler.Scheduler"
    assert settings["EXTENSIONS"] == {SpiderWorker: 0}
    assert settings["DOWNLOADER_MIDDLEWARES"] == {RobotsTxtMiddleware: None, RobotsMiddleware: 100}


def test_what_asks_for_rest_is_left_to_the_frontier_and_all_else_is_tried_again_as_before() -> None:
    before = Settings().getlist("RETRY_HTTP_CODES")

    assert with_addon()["RETRY_HTTP_CODES"] == [code for code in before if code not in (429, 503)]


@pytest.mark.parametrize("own", [RobotsTxtMiddleware, SCRAPYS])
def test_a_project_that_places_scrapy_s_robots_txt_keeps_it(own: object) -> None:
    assert with_addon(DOWNLOADER_MIDDLEWARES={own: 7})["DOWNLOADER_MIDDLEWARES"] == {own: 7}


def test_beside_another_scheduler_it_does_nothing_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    settings = with_addon(SCHEDULER="scrapy_redis.scheduler.Scheduler")

    assert settings["SCHEDULER"] == "scrapy_redis.scheduler.Scheduler"
    assert settings["EXTENSIONS"] == settings["DOWNLOADER_MIDDLEWARES"] == {}
    assert "SCHEDULER=scrapy_redis.scheduler.Scheduler is still set" in caplog.text
