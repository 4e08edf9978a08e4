"""Spiders as other people write them: after the pages of Scrapy's documentation that are named, not for us.

Copied into a project that `scrapy startproject` has made. `-a site=URL` says where their web is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import scrapy
from scrapy.exceptions import IgnoreRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider

LINES = {"tutorial.pipelines.LinesPipeline": 300}


class SiteSpider(scrapy.Spider):
    """Begins with these paths of a site."""

    paths = ("/",)

    def __init__(self, site: str, **arguments: str) -> None:  # Scrapyd names the job, too
        super().__init__(**arguments)
        self.start_urls = [site + path for path in self.paths]


class QuotesSpider(SiteSpider):
    """intro/tutorial: "A shortcut for creating Requests"."""

    name = "quotes"
    paths = ("/page/1/",)

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "referer": response.request.headers.get("Referer", b"").decode(),
                "depth": response.meta["depth"],
            }
        next_page = response.css("li.next a::attr(href)").get()
        if next_page is not None:
            yield response.follow(next_page, callback=self.parse)


class AuthorSpider(SiteSpider):
    """intro/tutorial: "More examples and patterns"."""

    name = "author"
    paths = ("/page/1/",)

    def parse(self, response):
        yield from response.follow_all(response.css(".author + a"), self.parse_author)
        yield from response.follow_all(response.css("li.next a"), self.parse)

    def parse_author(self, response):
        yield {"name": response.css("h3::text").get(default="").strip()}


class LoginSpider(SiteSpider):
    """topics/request-response: FormRequest.from_response() to simulate a user login."""

    name = "login"
    paths = ("/login",)

    def parse(self, response):
        return scrapy.FormRequest.from_response(
            response, formdata={"username": "john", "password": "secret"}, callback=self.after_login
        )

    def after_login(self, response):
        for word in ("red", "green", "blue"):
            yield scrapy.FormRequest(
                response.urljoin("/search"), formdata={"word": word}, callback=self.found, priority=len(word)
            )
        yield scrapy.http.JsonRequest(
            response.urljoin("/api"),
            data={"page": 1},
            headers={"X-Token": "abc"},
            cookies={"theme": "dark"},
            callback=self.found,
        )

    def found(self, response):
        yield {"found": response.text, "sent": response.request.method}


class ErrbackSpider(scrapy.Spider):
    """topics/request-response: errbacks, and passing additional data to callback functions."""

    name = "errback"

    def __init__(self, site: str, dead: str) -> None:
        super().__init__()
        self.urls = [f"{site}/good", f"{site}/missing", f"{site}/broken", dead]

    async def start(self):
        for number, url in enumerate(self.urls):
            yield scrapy.Request(
                url,
                callback=self.parse_page,
                errback=self.failed,
                dont_filter=True,
                cb_kwargs={"main_url": url, "pair": (number, b"\xff")},
                meta={"seen": {1, 2}, "item": Product("pen")},
            )

    def parse_page(self, response, main_url, pair):
        item = response.meta["item"]
        item.tags.append("more")
        yield item
        yield {"url": main_url, "pair": [pair[0], type(pair).__name__, pair[1] == b"\xff"]}
        yield response.follow("/more", self.parse_more, cb_kwargs={"item": item})

    def parse_more(self, response, item):
        item.tags.append("most")
        yield item

    def failed(self, failure):
        error = failure.value
        status = error.response.status if isinstance(error, HttpError) else 0
        yield {"failed": failure.request.url, "status": status, **failure.request.cb_kwargs}
        yield scrapy.Request(
            failure.request.cb_kwargs["main_url"] + "?again", self.parse_again, errback=self.ignore
        )

    def parse_again(self, response):
        yield {"again": response.url}

    def ignore(self, failure):
        pass


@dataclass
class Product:
    name: str
    tags: list[str] = field(default_factory=list)


class ShopSpider(CrawlSpider):
    """topics/spiders: CrawlSpider example."""

    name = "shop"
    allowed_domains = ["127.0.0.1"]
    rules = (
        Rule(LinkExtractor(allow=(r"category/",), deny=(r"subsection\.php",))),
        Rule(LinkExtractor(allow=(r"item/",)), callback="parse_item"),
    )

    def __init__(self, site: str) -> None:
        super().__init__()
        self.start_urls = [site]

    def parse_item(self, response):
        item = {"name": response.css("title::text").get(), "link_text": response.meta["link_text"]}
        return response.follow(
            "/description/" + response.url.rpartition("/")[2], self.add, cb_kwargs={"item": item}
        )

    def add(self, response, item):
        item["description"] = response.text
        return item


class MapSpider(SitemapSpider):
    """topics/spiders: SitemapSpider examples."""

    name = "sitemap"
    sitemap_rules = (("/product/", "parse_product"), ("/category/", "parse_category"))

    def __init__(self, site: str) -> None:
        super().__init__()
        self.sitemap_urls = [f"{site}/robots.txt"]

    def parse_product(self, response):
        yield {"product": response.url}

    def parse_category(self, response):
        yield {"category": response.url}


class TroubleSpider(SiteSpider):
    """Callbacks that raise, redirects, retries, what is filtered and what is not."""

    name = "trouble"
    allowed_domains = ["127.0.0.1"]
    custom_settings = {"RETRY_TIMES": 1, "FRONTIER_TRIES": 2}

    def parse(self, response):
        for path in ("/moved", "/flaky", "/raises", "/item-fails", "/item-drops", "/offsite"):
            yield response.follow(path, self.parse_item)
        for _ in range(3):
            yield response.follow("/counted", self.parse_item)
            yield response.follow("/always", self.parse_item, dont_filter=True)
        yield scrapy.Request("http://offsite.example/")

    def parse_item(self, response):
        yield {"url": response.url, "redirects": len(response.meta.get("redirect_urls", []))}
        yield response.follow("/after-" + response.url.rpartition("/")[2], self.parse_item)
        if "raises" in response.url:
            raise RuntimeError("a bug in a spider")


class RaisingSpider(SiteSpider):
    """Bugs: of a callback that has yielded something before it raises, of an errback, and of a pipeline."""

    name = "raising"

    def parse(self, response):
        for path in ("/fine", "/raises", "/item-fails", "/item-drops", "/gone"):
            yield response.follow(path, self.parse_item, errback=self.failed)

    def parse_item(self, response):
        yield {"url": response.url}
        yield {"before": response.text}
        yield response.follow("/after-" + response.url.rpartition("/")[2], self.parse_after)
        if "raises" in response.url:
            raise RuntimeError("a bug in a spider")
        yield {"after": response.text}

    def parse_after(self, response):
        yield {"url": response.url}

    def failed(self, failure):
        yield {"failed": failure.request.url}
        raise RuntimeError("a bug in an errback")


class LambdaSpider(SiteSpider):
    """Requests that cannot be written down."""

    name = "lambdas"
    paths = ("/page/1/",)

    def parse(self, response):
        yield {"page": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, lambda response: self.parse(response))


class WaitingSpider(scrapy.Spider):
    """Lives on seeds that others push."""

    name = "waiting"

    def parse(self, response):
        yield {"url": response.url, "method": response.request.method, "meta": response.meta.get("job", "")}


class RedirectsSpider(SiteSpider):
    """Links to pages, and to URLs that redirect to them, in either order."""

    name = "redirects"

    def parse(self, response):
        for path in ("/known", "/to-known", "/to-known-as-well", "/to-new", "/twice"):
            yield response.follow(path, self.parse_page)

    def parse_page(self, response):
        yield {"url": response.url}
        yield response.follow("/new", self.parse_page)
        yield response.follow("/lambda", lambda response: self.parse_page(response))


class SettingsSpider(SiteSpider):
    """What a spider reads of its settings."""

    name = "settings"

    def parse(self, response):
        yield {"concurrent": self.settings.getint("CONCURRENT_REQUESTS")}


class SpellingsSpider(SiteSpider):
    """URLs that Scrapy tells apart, or does not, where our canonical form sees it differently."""

    name = "spellings"

    def parse(self, response):
        yield {"url": response.url}
        asked = ("x=1&y=2", "y=2&x=1", "x=1&y=2#top", "utm_source=x")
        for path in ("/a/", "/a/index.html", *(f"/a/?{query}" for query in asked)):
            yield response.follow(path, self.parse_page)

    def parse_page(self, response):
        yield {"url": response.url}


class FilesSpider(SiteSpider):
    """topics/media-pipeline: using the Files Pipeline."""

    name = "files"
    paths = ("/page/1/", "/page/2/")
    custom_settings = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1, **LINES},
        "FILES_STORE": f"{os.environ.get('CRAWL_DIR', '.')}/files",
    }

    def parse(self, response):
        files = [response.urljoin(f"/author/{name}") for name in ("shared", response.url.split("/")[-2])]
        yield {"page": response.url, "file_urls": files}


class ImagesSpider(SiteSpider):
    """topics/media-pipeline: using the Images Pipeline, with thumbnails."""

    name = "images"
    paths = ("/category/1", "/category/3")
    custom_settings = {
        "ITEM_PIPELINES": {"scrapy.pipelines.images.ImagesPipeline": 1, **LINES},
        "IMAGES_STORE": f"{os.environ.get('CRAWL_DIR', '.')}/images",
        "IMAGES_THUMBS": {"small": (8, 8)},
        "IMAGES_MIN_WIDTH": 10,
    }

    def parse(self, response):
        images = response.css("img::attr(src)").getall()
        yield {"page": response.url, "image_urls": [response.urljoin(url) for url in images]}


class AsyncSpider(SiteSpider):
    """topics/coroutines: inline requests, in an asynchronous callback."""

    name = "coroutines"
    paths = ("/page/1/",)

    async def parse(self, response):
        for url in response.css(".author + a::attr(href)").getall():
            author = await self.crawler.engine.download_async(response.follow(url))
            yield {"author": author.css("h3::text").get(), "page": response.url}
        for following in response.css("li.next a"):
            yield response.follow(following, self.parse)


class CookiesSpider(scrapy.Spider):
    """topics/downloader-middleware: multiple cookie sessions per spider."""

    name = "cookies"

    def __init__(self, site: str) -> None:
        super().__init__()
        self.site = site

    async def start(self):
        for number in range(3):
            yield scrapy.Request(
                f"{self.site}/login?{number}", meta={"cookiejar": number}, cookies={"who": str(number)}
            )

    def parse(self, response):
        jar = response.meta["cookiejar"]
        yield scrapy.Request(f"{self.site}/api?{jar}", self.parse_page, meta={"cookiejar": jar})

    def parse_page(self, response):
        yield {"sent": response.text, "jar": response.meta["cookiejar"]}


class RepeatsSpider(SiteSpider):
    """URLs that are requested again, with dont_filter and without, by pages and by redirects."""

    name = "repeats"
    paths = ("/", "/")

    def parse(self, response):
        yield {"url": response.url}
        for _ in range(2):
            for path in ("/a", "/to-a"):
                yield response.follow(path, self.parse_page)
                yield response.follow(path, self.parse_page, dont_filter=True)

    def parse_page(self, response):
        depth = response.meta["depth"]
        yield {"url": response.url, "depth": depth}
        if depth < 3:
            yield response.follow("/b", self.parse_page, dont_filter=True)


class MediaSpider(SiteSpider):
    """topics/media-pipeline: extending the media pipelines."""

    name = "media"
    paths = ("/page/1/", "/page/2/")
    custom_settings = {"ITEM_PIPELINES": {"tutorial.pipelines.TitlesPipeline": 1, **LINES}}

    def parse(self, response):
        names = ("/author/shared", f"/author/{response.url.split('/')[-2]}", "/gone")
        yield {"page": response.url, "of": [response.urljoin(name) for name in names]}
        yield response.follow("/author/shared", self.parse_author)

    def parse_author(self, response):
        yield {"page": response.url, "of": []}


class ObedientSpider(SiteSpider):
    """Pages that robots.txt disallows, with an errback and without, and one that does not care."""

    name = "obedient"
    paths = ("/", "/no/start")

    def parse(self, response):
        yield {"url": response.url}
        for path in ("/yes", "/no/1", "/no/yes", "/no/2?x"):
            yield response.follow(path, self.parse_page, errback=self.failed)
        yield response.follow("/no/3", self.parse_page)
        yield response.follow("/no/4", self.parse_page, meta={"dont_obey_robotstxt": True})

    def parse_page(self, response):
        yield {"url": response.url}

    def failed(self, failure):
        yield {"failed": failure.request.url, "ignored": bool(failure.check(IgnoreRequest))}


class CheckedSpider(scrapy.Spider):
    """topics/contracts; its page is where the environment says, as a contract cannot have arguments."""

    name = "checked"

    def parse(self, response):
        yield {"url": response.url}

    parse.__doc__ = f"""A page.

    @url {os.environ.get("CHECKED", "http://127.0.0.1/")}
    @returns items 1 1
    """
