"""The crawls that can be started by name: `scrapy crawl NAME`."""
