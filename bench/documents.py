"""What a crawl reads of PDF files: which share has text, what becomes of the others, and how long it takes.

    python bench/documents.py FOLDER [--download] [-n 200] [--json FILE]

Crawls the first n PDF files of up to 10 MiB below FOLDER, of each of its folders in turn, from a server on
loopback, and reads the catalog. With --download, PDF files of Debian's documentation packages are fetched
into FOLDER first: a folder for each package (needs Debian's apt-get and dpkg-deb; about 500 MB).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from localweb import Answer, crawl, page, sites  # noqa: E402

from webcrawler.archive.catalog import Catalog  # noqa: E402
from webcrawler.crawl import wiring  # noqa: E402

PACKAGES = """r-doc-pdf lilypond-doc-pdf docbook-xsl-doc-pdf auto-multiple-choice-doc-pdf camlidl-doc
    erlang-doc freefem-doc ghostscript-doc gri-pdf-doc siscone-doc-pdf why3-doc-pdf python-reportlab-doc
    seqan-raptor-doc gnuplot-doc octave-doc debian-policy developers-reference maint-guide debian-faq bash-doc
    pari-doc gap-doc maxima-doc doxygen-doc xfig-doc asymptote-doc mrbayes-doc music-doc euslisp-doc
    jskeus-doc texlive-latex-base-doc texlive-science-doc texlive-latex-recommended-doc
    texlive-humanities-doc"""
MAX_BYTES = 10 * 2**20  # DOWNLOAD_MAXSIZE
SOME_WORDS = 20  # a file with fewer is a drawing


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--download", action="store_true", help="fetch packages of Debian into FOLDER first")
    parser.add_argument("-n", type=int, default=200, help="files (200)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    if asked.download:
        download(asked.folder)
    files = chosen(asked.folder, asked.n)
    if not files:
        parser.error(f"there are no PDF files below {asked.folder}: --download fetches some")
    figures = measured(files)
    for name, value in figures.items():
        print(f"{name:24} {value}")
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=2))


def download(folder: Path) -> None:
    """A package that this Debian does not have is left out."""
    for package in PACKAGES.split():
        into = folder / package
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as downloaded:
            subprocess.run(["apt-get", "download", "-q", package], cwd=downloaded, stdout=subprocess.DEVNULL)
            for archive in Path(downloaded).glob("*.deb"):
                with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as tar:
                    command = ["tar", "-x", "-C", into, "--wildcards", "*.pdf", "*.pdf.gz"]
                    subprocess.run(command, stdin=tar.stdout, stderr=subprocess.DEVNULL)
        for packed in into.rglob("*.pdf.gz"):
            subprocess.run(["gunzip", "-f", packed])


def chosen(folder: Path, most: int) -> list[Path]:
    """Files of each folder in turn, so that many authors and programs are among them."""
    found = [
        [file for file in sorted(one.rglob("*.pdf")) if file.is_file() and file.stat().st_size <= MAX_BYTES]
        for one in sorted(folder.iterdir())
    ]
    return [file for file in chain(*zip_longest(*found)) if file][:most]


def measured(files: list[Path]) -> dict[str, Any]:
    by_path = {f"/{number}.pdf": file for number, file in enumerate(files)}
    answers = {path: Answer(file.read_bytes(), kind="application/pdf") for path, file in by_path.items()}
    with (
        sites(a={"/": page(*by_path), **answers}) as web,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made,  # the index follower may be at work
    ):
        folder, home, began = Path(made) / "crawl", web["a"].url, time.monotonic()
        pipelines = json.dumps(wiring.SETTINGS["ITEM_PIPELINES"])
        done = crawl(folder, "index", "-a", f"seeds={home}/", ITEM_PIPELINES=pipelines)
        seconds = time.monotonic() - began
        ends = Counter(done.reason(home + path) for path in by_path)
        with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
            counts = {file: words(catalog, home + path) for path, file in by_path.items()}
    few = {str(file): count for file, count in counts.items() if count < SOME_WORDS}
    return {
        "files": len(files),
        "MB": sum(file.stat().st_size for file in files) // 10**6,
        "exit status of the crawl": done.status,
        "seconds": round(seconds, 1),
        **ends,
        "words": sum(counts.values()),
        "share with text": sum(count > 0 for count in counts.values()) / len(files),
        f"share with {SOME_WORDS} words": 1 - len(few) / len(files),
        "words of the others": few,
    }


def words(catalog: Catalog, url: str) -> int:
    document = catalog.find(url)
    return document.word_count if document else 0


if __name__ == "__main__":
    main()
