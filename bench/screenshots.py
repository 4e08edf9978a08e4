"""The pictures of docs/how-to/images, of a search page that is served.

    python bench/screenshots.py http://127.0.0.1:8000 [--query "parse html"] [--into FOLDER]

The status page is taken only with --status: while a crawl goes on it shows more. With --live N the web is
searched now for the query, and its page is taken when N pages that it found are listed.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from playwright.sync_api import ViewportSize, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs/how-to/images"
WIDE: ViewportSize = {"width": 1000, "height": 760}
NARROW: ViewportSize = {"width": 360, "height": 760}
MOST_BYTES = 150_000


def main() -> None:
    told = _arguments()
    found = f"/search?q={quote_plus(told.query)}"
    shots: dict[str, tuple[str, dict[str, Any]]] = {
        "search-light": (found, {"viewport": WIDE, "color_scheme": "light"}),
        "search-dark": (found, {"viewport": WIDE, "color_scheme": "dark"}),
        "search-narrow": (found, {"viewport": NARROW, "color_scheme": "light"}),
    }
    if told.status:
        shots = {"status": ("/status", {"viewport": {"width": 900, "height": 860}})}
    if told.live:
        shots = {"live": (found, {"viewport": {"width": 1000, "height": 860}, "color_scheme": "light"})}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--no-proxy-server"]
        )
        for name, (path, look) in shots.items():
            page = browser.new_page(base_url=told.address, **look)
            page.goto(path)
            if told.live:
                page.get_by_role("button", name="Search the web now").click()
                page.locator("#live-list .via").nth(told.live - 1).wait_for(timeout=120_000)
                page.evaluate("scrollTo(0, 0)")
            taken = page.screenshot(path=told.into / f"{name}.png")
            assert len(taken) < MOST_BYTES, f"{name} is too large: {len(taken):,} bytes"
        browser.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address", help="where `scrapy serve` answers")
    parser.add_argument("--query", default="parse html")
    parser.add_argument("--into", type=Path, default=IMAGES)
    parser.add_argument("--status", action="store_true", help="take the status page, and nothing else")
    parser.add_argument(
        "--live",
        type=int,
        default=0,
        metavar="N",
        help="search the web now, until it found N",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
