"""Which files a home's tables are made of: a JSON file that is written after them, and read before them.

`v1/manifest/HOME/NUMBER.json`. The one with the highest number of a home is in force, alone. Parts are not
changed, so a reader may go on with an older manifest for a day; then the parts that it alone has are deleted.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from webcrawler.dataset.place import ROOT, Place
from webcrawler.errors import BadInput
from webcrawler.files import replaced


@dataclass(frozen=True, slots=True)
class Part:
    """A Parquet file, with rows of one table."""

    table: str
    path: str  # in the dataset
    rows: int
    bytes: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a home has exported: all changes of its catalog up to `seq`, and all its URLs up to `urls`."""

    home: str
    number: int
    epoch: int
    catalog: str  # its identity
    seq: int
    urls: int  # page number of the last URL
    parts: tuple[Part, ...]
    replaced: tuple[tuple[str, float], ...] = ()  # paths of parts that it no longer has, and since when
    parts_needed: int = 0  # as many it had once all was exported anew


def parts_of(manifests: Iterable[Manifest], table: str) -> list[Part]:
    """All parts of a table, of all homes."""
    return [part for manifest in manifests for part in manifest.parts if part.table == table]


def newest(place: Place, home: str = "") -> list[Manifest]:
    """The manifest in force of each home, or of this one alone.

    Raises:
        BadInput: one is of a newer version of this program, or damaged.
        Unavailable: the place does not answer.
    """
    newest = {key.rpartition("/")[0]: key for key in keys(place, home)}
    return [place.read(key, _made) for key in newest.values()]


def keys(place: Place, home: str) -> list[str]:
    """Those of all manifests of a home, the newest last; "": of all homes."""
    return [file.key for file in place.files(f"{ROOT}/manifest/{home}".rstrip("/"), ".json")]


def put(place: Place, new: Manifest) -> bool:
    """Put a manifest in force, whose parts are there; tell whether there was none of its number yet."""
    return place.create(f"{ROOT}/manifest/{new.home}/{new.number:010}.json", asdict(new))


def refuse_halves(place: Place, parts: Sequence[Part]) -> None:
    """Raises BadInput: one of these is missing, or is not as long as its manifest says."""
    tables = {part.table for part in parts}
    sizes = dict(file for table in tables for file in place.files(f"{ROOT}/{table}"))
    for part in parts:
        if (size := sizes.get(part.path)) is None:
            raise BadInput(f"{place.url}/{part.path} is missing, though a manifest names it")
        if size != part.bytes:
            raise BadInput(f"{place.url}/{part.path} is damaged: it has {size} bytes of {part.bytes}")


def home_name(crawl_dir: Path) -> str:
    """The name of a folder among others: random, and kept in its file `home`, which is made once."""
    file = crawl_dir / "home"
    if not file.exists():
        with replaced(file) as new:
            new.write(secrets.token_hex(6).encode())
    return file.read_text("ascii").strip()


def _made(said: dict[str, Any]) -> Manifest:
    said["parts"] = tuple(Part(**part) for part in said["parts"])
    said["replaced"] = tuple((path, since) for path, since in said["replaced"])
    return Manifest(**said)
