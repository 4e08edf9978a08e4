"""How much of a page's main content is found, and how much of what stands around it is left out?

    python bench/content.py ARTICLES [--docweb DIR] [--json FILE]

ARTICLES holds `ground-truth.json.xz` and `pages.tar.xz` of Zyte's article extraction benchmark: F1, precision
and recall are of the words (`\\w+`, lower case, with repetition) of the main content beside `articleBody`,
means over pages. DIR is a folder of docweb full. Of the 13 hosts in `MANUALS` the pages whose main element,
which the table names, has 100 words and more in `pre` and `dl` are put in the order of the SHA-1 of their
paths. The share of these words that is main content is of the first three (of the first host four).
Milliseconds are processor time of `parse`.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import tarfile
import time
from collections import Counter
from hashlib import sha1
from pathlib import Path
from typing import Any

from lxml import etree, html
from rich.console import Console
from rich.table import Table

from webcrawler.parsing import parse
from webcrawler.text import content

WORD = re.compile(r"\w+")
BESIDE_NAVIGATION = "//body/div[not(starts-with(@class, 'nav') or @class = 'footer')]"
MANUALS = {  # what holds the main content
    "docs.python.org": "//div[@role='main']",
    "docs.djangoproject.com": "//div[@id='yui-main']",
    "www.postgresql.org": BESIDE_NAVIGATION,
    "git-scm.com": "//body",
    "doc.rust-lang.org": "//main",
    "nodejs.org": "//*[@id='apicontent']",
    "www.fltk.org": "//div[@class='contents']",
    "developer.gnome.org": BESIDE_NAVIGATION,
    "httpd.apache.org": "//div[@id='page-content']",
    "cmake.org": "//div[@class='body']",
    "en.cppreference.com": "//div[@id='mw-content-text']",
    "libvirt.org": "//div[@id='body']",
    "www.debian.org": BESIDE_NAVIGATION,
}
LEAST_WORDS = 100


def main() -> None:
    told = _arguments()
    figures: dict[str, Any] = {"articles": articles(told.articles)}
    if told.docweb:
        figures["manuals"] = manuals(told.docweb)
    _print(figures)
    if told.json:
        told.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def articles(folder: Path) -> dict[str, float]:
    """Mean figures of the main content beside those of the whole text."""
    truth = json.loads(lzma.decompress((folder / "ground-truth.json.xz").read_bytes()))
    found, whole, seconds = [], [], 0.0
    with tarfile.open(folder / "pages.tar.xz") as pages:
        for member in pages:
            body = pages.extractfile(member)
            if not body or not (told := truth.get(Path(member.name).stem)):
                continue
            began = time.process_time()
            page = parse(body.read(), "http://a.example/", "text/html; charset=utf-8")
            seconds += time.process_time() - began
            found.append(_scores(content.outside(page.text, page.around), told["articleBody"]))
            whole.append(_scores(page.text, told["articleBody"]))
    count = len(found)
    names = ("f1", "precision", "recall")
    figures = {name: sum(score[i] for score in found) / count for i, name in enumerate(names)}
    figures |= {
        f"{name} of the whole text": sum(score[i] for score in whole) / count for i, name in enumerate(names)
    }
    return {"pages": count, **figures, "ms a page": 1000 * seconds / count}


def manuals(docweb: Path) -> dict[str, Any]:
    """The share of the words in code and definitions that is kept, of each page."""
    shares, kept, words = {}, 0, 0
    for number, (host, place) in enumerate(MANUALS.items()):
        for path, told in _chosen(docweb / host, place, 4 if number == 0 else 3):
            page = parse(path.read_bytes(), "http://a.example/", "text/html")
            has = (told & _words(content.outside(page.text, page.around))).total()
            shares[str(path.relative_to(docweb))] = has / told.total()
            kept, words = kept + has, words + told.total()
    return {
        "pages": len(shares),
        "mean share": sum(shares.values()) / len(shares),
        "of all words": kept / words,
        "share": shares,
    }


def _chosen(host: Path, place: str, most: int) -> list[tuple[Path, Counter[str]]]:
    paths = [path for path in host.rglob("*.html") if path.is_file()]
    paths.sort(key=lambda path: sha1(str(path.relative_to(host)).encode()).digest())
    chosen = []
    for path in paths:
        tree = html.fromstring(path.read_bytes())
        outermost = [
            element
            for holder in tree.xpath(place)
            for element in holder.xpath(".//*[self::pre or self::dl][not(ancestor::pre or ancestor::dl)]")
        ]
        source = b"".join(etree.tostring(element, method="html", encoding="utf-8") for element in outermost)
        told = _words(parse(source, "http://a.example/", "text/html; charset=utf-8").text)
        if told.total() >= LEAST_WORDS:
            chosen.append((path, told))
        if len(chosen) == most:
            break
    return chosen


def _words(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.lower()))


def _scores(found: str, truth: str) -> tuple[float, float, float]:
    """F1, precision, recall."""
    has, should = _words(found), _words(truth)
    both = (has & should).total()
    precision, recall = both / max(has.total(), 1), both / max(should.total(), 1)
    return 2 * precision * recall / max(precision + recall, 1e-9), precision, recall


def _print(figures: dict[str, Any]) -> None:
    table = Table("", "", "")
    for part, values in figures.items():
        for name, value in values.items():
            if not isinstance(value, dict):
                table.add_row(part, name, f"{value:.4f}" if isinstance(value, float) else str(value))
    Console().print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("articles", type=Path)
    parser.add_argument("--docweb", type=Path)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
