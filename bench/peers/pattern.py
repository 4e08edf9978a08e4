"""The same spider with a regular expression: as little work of its own as a spider can have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urldefrag, urljoin

from plain import PlainSpider
from scrapy.http import Response

HREF = re.compile(rb"""<a\s[^>]*?href=["']?([^"' >]+)""", re.IGNORECASE)


class PatternSpider(PlainSpider):
    name = "pattern"

    def links(self, response: Response) -> Iterator[str]:
        for href in HREF.findall(response.body):
            try:
                yield urldefrag(urljoin(response.url, href.decode())).url
            except ValueError:
                continue
