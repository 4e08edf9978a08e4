"""The commands: `scrapy COMMAND`, in this project's folder."""
