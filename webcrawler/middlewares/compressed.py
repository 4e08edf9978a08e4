"""Keeps Scrapy from guessing the character set of compressed bytes."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response, TextResponse


class CompressedMiddleware:
    """A body with a Content-Encoding is no text yet.

    Scrapy's HttpCompressionMiddleware copies the response, and the copy asks a TextResponse for its encoding:
    a guess over the compressed body, about 5 ms a page. After inflating it is an HtmlResponse again.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        if not isinstance(response, TextResponse) or "Content-Encoding" not in response.headers:
            return response
        return Response(
            response.url,
            response.status,
            response.headers,
            response.body,
            response.flags,
            response.request,
            response.certificate,
            response.ip_address,
            response.protocol,
        )
