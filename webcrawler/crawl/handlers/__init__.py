"""How is a URL downloaded? A Scrapy download handler for each protocol: HTTP, FTP and Gopher."""
