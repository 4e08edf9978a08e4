"""The search page as people see it: a real `webcrawler serve`, and a browser that notes faults."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, expect, sync_playwright
from testdata import absent

ROOT = Path(__file__).parent.parent
SECONDS = 60  # that nothing here takes
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server"]
GRAVE = ("serious", "critical")
ANY = ("minor", "moderate", *GRAVE)

expect.set_options(timeout=SECONDS * 1000)


@contextmanager
def served(crawl_dir: Path, **settings: str) -> Iterator[str]:
    """The address of a server over that folder; told to end it ends well, and has complained of nothing."""
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "serve", "--port", "0", *given],
            cwd=ROOT,
            env=os.environ | {"CRAWL_DIR": str(crawl_dir)},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, _read(log)
            yield found[0]
            process.send_signal(signal.SIGTERM)
            status = process.wait(SECONDS)
        finally:
            process.kill()
            process.communicate()
        assert (status, _read(log)) == (0, "")


@contextmanager
def chromium_browser(*more: str) -> Iterator[Browser]:
    """
    Args:
        more: arguments of its command line.
    """
    path = shutil.which("chromium")
    if path is None:
        absent("there is no chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, *more])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, address: str, also: str = "", **options: Any) -> Iterator[Page]:
    """A page in a context of its own, based on that address; fails at its end if anything went wrong in it.

    Args:
        also: another address that may be asked.

    That is what the console calls an error (a breach of the content security policy is one), an exception in
    a script, a dialog, a request to elsewhere, one that failed or found nothing, an answer of 500 or above.
    """
    with browser.new_context(base_url=address, **options) as context:
        context.set_default_timeout(SECONDS * 1000)
        page, faults = context.new_page(), list[str]()

        def said(message: ConsoleMessage) -> None:
            if message.type == "error" and not message.text.startswith("Failed to load resource"):
                faults.append(f"console: {message.text}")

        def failed(request: Request) -> None:
            if request.failure != "net::ERR_ABORTED":  # suggestions that were no longer wanted
                faults.append(f"failed: {request.url} {request.failure}")

        def asked(request: Request) -> None:
            if not request.url.startswith((f"{address}/", f"{also or address}/")):
                faults.append(f"elsewhere: {request.url}")

        def answered(response: Response) -> None:
            parts = ("stylesheet", "script", "image")  # of a page; pages themselves may be refused
            if response.status >= (400 if response.request.resource_type in parts else 500):
                faults.append(f"{response.status}: {response.url}")

        page.on("console", said)
        page.on("pageerror", lambda error: faults.append(f"exception: {error}"))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        context.on("page", lambda other: faults.append(f"window: {other.url}"))
        context.on("request", asked)
        context.on("requestfailed", failed)
        context.on("response", answered)
        yield page
        assert faults == []


def barriers(page: Page, impacts: Container[str] = GRAVE) -> list[tuple[str, str]]:
    """What axe-core finds that shuts somebody out: (rule, first element)."""
    found = Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in impacts]


def _read(log: Any) -> str:
    log.seek(0)
    return str(log.read())
