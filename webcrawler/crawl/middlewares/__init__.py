"""What stands between an index crawl and its downloads; `webcrawler.crawl.wiring` names them to Scrapy."""
