"""Items in a file of their own, written before the page counts as done."""

from __future__ import annotations

import json
import os
from pathlib import Path

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem


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
