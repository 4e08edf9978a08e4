"""Items in a file of their own, written before the page counts as done."""

from __future__ import annotations

import json
import os
from pathlib import Path

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.pipelines.media import MediaPipeline


class TitlesPipeline(MediaPipeline):
    """Downloads the pages that an item names, and puts their headings into it."""

    def get_media_requests(self, item, info):
        return [Request(url) for url in item["of"]]

    def media_to_download(self, request, info, *, item=None):
        return None

    def media_downloaded(self, response, request, info, *, item=None):
        if response.status != 200:
            raise ValueError(response.status)
        return response.css("h3::text").get()

    def media_failed(self, failure, request, info):
        return failure

    def file_path(self, request, response=None, info=None, *, item=None):
        raise NotImplementedError  # nothing is stored

    def item_completed(self, results, item, info):
        return item | {"titles": [title if good else "failed" for good, title in results]}


class LinesPipeline:
    def open_spider(self) -> None:
        self._file = Path(os.environ["ITEMS"]).open("a")  # noqa: SIM115

    def process_item(self, item):
        fields = ItemAdapter(item).asdict()
        if "item-fails" in str(fields):
            raise ValueError("a bug in a pipeline")
        if "item-drops" in str(fields):
            raise DropItem("not wanted")
        self._file.write(json.dumps(fields, default=str) + "\n")
        self._file.flush()
        return item

    def close_spider(self) -> None:
        self._file.close()
