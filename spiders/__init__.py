"""The crawls that can be started by name: `webcrawler crawl NAME`."""
