"""How long do the graph jobs take on one machine, and how much memory? Tables of two homes are made by lot.

    python bench/graphjobs.py FOLDER [--links 50_000_000] [--memory 1GB]

Pages and links are those of a web that grows: a tenth of the links lead anywhere, the others to neighbours,
whose number is drawn by a power law. A thirtieth as many pages as links, as in crawls of ours.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
from pyarrow import compute, parquet

from webcrawler.dataset import jobs, manifest
from webcrawler.dataset.manifest import Manifest, Part
from webcrawler.dataset.place import Place
from webcrawler.dataset.schema import TABLES

HOMES = ("north", "south")
PART = 2_000_000  # links, as of parts that were made one
GROUP = 65_536  # rows, as exporters have it
LINKS_A_PAGE = 30


def ids(numbers: np.ndarray) -> np.ndarray:
    """A signed 64-bit id for each number (splitmix64)."""
    with np.errstate(over="ignore"):
        x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).view(np.int64)


class Web:
    """The tables of a web of so many links, a slice of pages at a time."""

    def __init__(self, links: int) -> None:
        self.pages, self.random = links // LINKS_A_PAGE, np.random.default_rng(1)
        ends = np.cumsum(np.minimum(1 + self.random.pareto(1.1, self.pages // 8 + 9) * 10, 5_000).astype(int))
        self.host = np.searchsorted(ends, np.arange(self.pages), side="right")
        hosts = np.arange(self.host.max() + 1)
        self.hosts = pa.array([f"www{n % 2}.d{n // 2}.example" for n in hosts])
        self.domains = pa.array([f"d{n // 2}.example" for n in hosts])
        self.reversed = pa.array([f"example.d{n // 2}.www{n % 2}" for n in hosts])
        self.servers = pa.array([f"http://www{n % 2}.d{n // 2}.example" for n in hosts])
        self.anchors = pa.array(
            [f"w{n % 977} w{n % 3001} w{n}" for n in range(50_000)] + ["home", "", "next"]
        )

    def named(self, names: pa.Array, numbers: np.ndarray) -> pa.Array:
        return names.take(pa.array(self.host[numbers]))

    def urls(self, numbers: np.ndarray) -> dict[str, object]:
        return {
            "url_id": ids(numbers),
            "url_host_name": self.named(self.hosts, numbers),
            "url_host_registered_domain": self.named(self.domains, numbers),
            "url_host_name_reversed": self.named(self.reversed, numbers),
            "server": self.named(self.servers, numbers),
            "state": np.where(numbers % 3 == 0, "document", "uncrawled"),
            "findable": np.ones(len(numbers), bool),
            "fetch_time": pa.array(numbers, pa.timestamp("us", "UTC")),
        }

    def documents(self, numbers: np.ndarray) -> dict[str, object]:
        numbers = numbers[numbers % 3 == 0]
        same = np.where(self.random.random(len(numbers)) < 0.03, numbers % 1_000, numbers)
        near = ids(same + 2**41) ^ (np.int64(1) << self.random.integers(0, 62, len(numbers)))
        return {
            "url_id": ids(numbers),
            "fetch_time": pa.array(numbers, pa.timestamp("us", "UTC")),
            "content_digest": pa.array(ids(same + 2**40)).cast(pa.string()),
            "simhash": near,
        }

    def links(self, numbers: np.ndarray) -> dict[str, object]:
        sources = np.repeat(numbers[numbers % 3 == 0], LINKS_A_PAGE * 3)
        near = sources + self.random.zipf(1.4, len(sources)).clip(max=100_000) * self.random.choice(
            (-1, 1), len(sources)
        )
        far = self.random.integers(0, self.pages, len(sources))
        targets = np.where(self.random.random(len(sources)) < 0.1, far, near) % self.pages
        words = np.where(
            self.random.random(len(sources)) < 0.7,
            targets % 50_000,
            self.random.integers(0, 50_003, len(sources)),
        )
        return {
            "source_id": ids(sources),
            "target_id": ids(targets),
            "source_domain": self.named(self.domains, sources),
            "target_domain": self.named(self.domains, targets),
            "source_server": self.named(self.servers, sources),
            "target_server": self.named(self.servers, targets),
            "anchor": self.anchors.take(pa.array(words)),
            "rel": pa.array(np.where(self.random.random(len(sources)) < 0.02, "nofollow", "")),
        }

    def postings(self, numbers: np.ndarray) -> dict[str, object]:
        numbers = np.repeat(numbers[numbers % 3 == 0], 20)
        terms = self.random.zipf(1.3, len(numbers)).clip(max=300_000).astype(np.int32)
        return {
            "url_id": ids(numbers),
            "language": pa.array(np.where(numbers % 2 == 0, "en", "de")),
            "term": compute.binary_join_element_wise("t", pa.array(terms).cast(pa.string()), ""),
            "tf": np.ones(len(numbers), np.int32),
        }


def make(folder: Path, links: int) -> None:
    """Write all parts and manifests."""
    place, web = Place(str(folder)), Web(links)
    step = PART // LINKS_A_PAGE
    parts: dict[str, list[Part]] = {home: [] for home in HOMES}
    for start in range(0, web.pages, step):
        numbers = np.arange(start, min(start + step, web.pages))
        home = HOMES[2 * start // web.pages]
        for table in jobs.READ:
            key = f"v1/{table}/bucket=000/{home}-{start}.parquet"
            path = folder / key
            path.parent.mkdir(parents=True, exist_ok=True)
            columns = getattr(web, table)(numbers)
            rows = len(columns["url_id" if table != "links" else "source_id"])
            versioned = {
                "home": pa.repeat(home, rows),
                "epoch": np.ones(rows, np.int64),
                "seq": np.ones(rows, np.int64),
            }
            schema = TABLES[table]
            given = pa.table({**columns, **versioned})
            full = [
                given[f.name].cast(f.type) if f.name in given.column_names else pa.nulls(rows, f.type)
                for f in schema
            ]
            parquet.write_table(pa.table(full, schema=schema), path, compression="zstd", row_group_size=GROUP)
            parts[home].append(Part(table, key, rows, path.stat().st_size, 1))
    for home in HOMES:
        manifest.put(place, Manifest(home, 1, 1, "c", 1, 1, tuple(parts[home])))


class Peak(threading.Thread):
    """The highest resident size of this process, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0

    def run(self) -> None:
        process = psutil.Process()
        while True:
            self.most = max(self.most, process.memory_info().rss >> 20)
            time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--links", type=int, default=50_000_000)
    parser.add_argument("--memory", default="1GB")
    given = parser.parse_args()
    if not (given.folder / "v1/manifest").exists():
        make(given.folder, given.links)
    peak, began = Peak(), time.monotonic()
    peak.start()
    seconds, last = dict[str, float](), [began, ""]

    def progress(step: str, done: int, total: int | None) -> None:
        if last[1]:
            seconds[str(last[1])] = round(time.monotonic() - float(last[0]), 1)
        last[:] = [time.monotonic(), step]
        print(step, round(time.monotonic() - began), "s", peak.most, "MB", file=sys.stderr, flush=True)

    jobs.run(str(given.folder), given.folder.with_suffix(".work"), progress, memory=given.memory)
    progress("", 0, None)
    cpu = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "seconds": seconds,
                "all": round(time.monotonic() - began, 1),
                "cpu": round(cpu.ru_utime + cpu.ru_stime, 1),
                "peak_mb": peak.most,
            }
        )
    )


if __name__ == "__main__":
    main()
