"""The commands: `webcrawler COMMAND`, or `scrapy COMMAND` in the folder of this project."""
