"""`webcrawler sink`: what of this folder a cluster of OpenSearch has."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime

from webcrawler.background import Views
from webcrawler.commands._terminal import JSON, printable
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput, require

WHAT = ("status", "errors", "rebuild")


class Sink(Command):
    arguments = "status | errors | rebuild"
    summary = "Say what of this folder is in the cluster of SINK_URL, or write it there anew"
    details = (
        "`status` says how much is written there and how much waits, `errors` which documents the cluster "
        "has refused, `rebuild` writes all of this folder again, in place, and takes out what it no longer "
        "has."
    )
    options = (JSON,)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or args[0] not in WHAT:
            raise BadInput(f"say what of it: {self.arguments}")
        require("opensearch", "sink")
        url = str(self.project.get("SINK_URL") or "")
        if not url:
            raise BadInput("SINK_URL is not set: it names the cluster that gets the pages of this folder")
        _ = self.catalog_file  # raises where nothing was crawled
        {"status": self._status, "errors": self._errors, "rebuild": self._rebuild}[args[0]](url, opts)

    def _status(self, url: str, opts: argparse.Namespace) -> None:
        from webcrawler.opensearch import status

        self.show(status(self.crawl_dir, url), opts)

    def _errors(self, url: str, opts: argparse.Namespace) -> None:
        from webcrawler.opensearch import refused

        found = refused(self.crawl_dir)
        if opts.json:
            print(json.dumps([{"url": url, **one} for url, one in found.items()], indent=2))
            return
        for name, one in found.items():
            when = datetime.fromtimestamp(one["at"], UTC).isoformat(" ", "seconds").partition("+")[0]
            print(f"{when}  {printable(name)}\n  {printable(one['why'])}")

    def _rebuild(self, url: str, opts: argparse.Namespace) -> None:
        from webcrawler.opensearch import status, write_anew

        with Views(self.crawl_dir).take_over():
            write_anew(self.crawl_dir, url)
        Views(self.crawl_dir).ensure_started(self.views_settings())
        self.show(status(self.crawl_dir, url), opts)
