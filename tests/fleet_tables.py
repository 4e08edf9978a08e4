"""Tables of two homes as they are exported, small and awkward: nulls, ties, negative ids, moved pages."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from webcrawler.dataset import manifest
from webcrawler.dataset.manifest import Manifest, Part
from webcrawler.dataset.place import Place
from webcrawler.dataset.schema import TABLES

HOMES = ("north", "süd")
RELS = ("", "", "", "", "nofollow", "form-and-link")
ANCHORS = ("Über uns", "日本語", "home", "a b", "", "read more", "it's", "O'Neill \\ 50%")
Rows = dict[str, list[dict[str, Any]]]


def ids(number: int) -> int:
    """A signed 64-bit id; every second one is negative."""
    return int.from_bytes(hashlib.blake2b(b"%d" % number, digest_size=8).digest(), signed=True)


def at(second: int) -> datetime:
    return datetime.fromtimestamp(1_700_000_000 + second, UTC)


def web(seed: int, pages: int = 60) -> dict[str, Rows]:
    """Tables by home of a web drawn by lot; some pages are known to both, two were fetched by both."""
    drawn = random.Random(seed)
    homes: dict[str, Rows] = {home: defaultdict(list) for home in HOMES}
    hosts = [f"{name}.example" for name in ("www.a", "a", "b", "bücher", "c", "xn--d", "x.d")]
    host_of = [drawn.choice(hosts) for _ in range(pages)]
    for number in range(pages):
        owner = HOMES[hosts.index(host_of[number]) % 2]
        state = drawn.choice(["document"] * 6 + ["redirect", "uncrawled", "gone", "noindex"])
        crawlers = [owner] if number % 20 else list(HOMES)  # some pages have moved
        for home in HOMES:
            fetched = home in crawlers and state != "uncrawled"
            if not fetched and home != owner and number % 3:
                continue
            _page(homes[home], drawn, home, number, host_of, state if fetched else "uncrawled")
    return homes


def _page(rows: Rows, drawn: random.Random, home: str, number: int, host_of: list[str], state: str) -> None:
    for seq in range(1, drawn.choice((2, 2, 3))):  # some have an older row, which does not hold
        _version(rows, drawn, home, number, host_of, state, seq)


def _version(
    rows: Rows, drawn: random.Random, home: str, number: int, host_of: list[str], state: str, seq: int
) -> None:
    host, seconds = host_of[number], drawn.choice((1, 1, 2, 3)) * 10 + (home == HOMES[0])
    versioned = {"home": home, "epoch": 1, "seq": seq}
    rows["urls"].append(
        {
            "url_id": ids(number),
            "url": f"http://{host}/{number}",
            "url_host_name": host,
            "url_host_registered_domain": domain(host),
            "url_host_name_reversed": ".".join(reversed(host.split("."))),
            "server": f"http://{host}",
            "state": state,
            "findable": state in ("document", "uncrawled"),
            "fetch_time": None if state == "uncrawled" else at(seconds),
            **versioned,
        }
    )
    if state in ("document", "noindex"):
        _document(rows, drawn, number, seconds, versioned)
    targets = drawn.sample(range(len(host_of)), {"redirect": 1, "document": 8, "noindex": 3}.get(state, 0))
    for target in targets:
        rel = "redirect" if state == "redirect" else drawn.choice(RELS)
        rows["links"].append(
            {
                "source_id": ids(number),
                "target_id": ids(target),
                "source_domain": domain(host),
                "target_domain": domain(host_of[target]),
                "source_server": f"http://{host}",
                "target_server": f"http://{host_of[target]}",
                "anchor": "" if rel == "redirect" else drawn.choice(ANCHORS),
                "rel": rel,
                **versioned,
            }
        )


def _document(rows: Rows, drawn: random.Random, number: int, seconds: int, versioned: dict[str, Any]) -> None:
    digest = drawn.choice((None, f"D{drawn.randrange(8)}", f"E{number}"))
    near = ids(1000 + drawn.randrange(4)) ^ (1 << drawn.randrange(63))
    rows["documents"].append(
        {
            "url_id": ids(number),
            "fetch_time": at(seconds),
            "content_digest": digest,
            "simhash": drawn.choice((None, near, near ^ (-1 << 63), ids(number))),
            "canonical_id": drawn.choice((None, None, ids(drawn.randrange(60)))),
            "changed": drawn.choice((None, at(seconds))),
            **versioned,
        }
    )
    for term in drawn.sample(["größe", "東京", "a", "b", "c"], 3):
        posting = {"url_id": ids(number), "language": drawn.choice(("de", "")), "term": term, "tf": 2}
        rows["postings"].append({**posting, **versioned})


def domain(host: str) -> str | None:
    return None if host.startswith("xn--") else ".".join(host.split(".")[-2:])


def put(place: Place, folder: Path, homes: dict[str, Rows], number: int = 1) -> list[Manifest]:
    """Write these tables as parts with manifests, as the exporter does."""
    return [_put_home(place, folder, home, rows, number) for home, rows in homes.items()]


def _put_home(place: Place, folder: Path, home: str, rows: Rows, number: int) -> Manifest:
    parts = list[Part]()
    for table, some in rows.items():
        for half, part in enumerate((some[::2], some[1::2])):
            key = f"v1/{table}/bucket=000/{home}-{number}-{half}.parquet"
            write(folder / "part.parquet", table, part)
            size = (folder / "part.parquet").stat().st_size
            place.put(key, folder / "part.parquet")
            parts.append(Part(table, key, len(part), size, 1))
    said = Manifest(home, number, 1, "catalog", 9, 60, tuple(parts))
    manifest.put(place, said)
    return said


def write(file: Path, table: str, rows: Iterable[dict[str, Any]]) -> None:
    parquet.write_table(pa.Table.from_pylist(list(rows), schema=TABLES[table]), file)
