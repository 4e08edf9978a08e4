"""Which files a home's tables are made of: a JSON file that is written after them, and read before them.

`v1/manifest/HOME/NUMBER.json`. The one with the highest number of a home is in force, alone. Parts are not
changed, so a reader may go on with an older manifest for a day; then the parts that it alone has are deleted.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from webcrawler.errors import BadInput
from webcrawler.files import replaced
from webcrawler.objects import reached

if TYPE_CHECKING:
    from obstore.store import LocalStore, S3Store

Store: TypeAlias = "LocalStore | S3Store"

ROOT = "v1"
FORMAT = 1  # of manifests and tables; readers refuse a higher one


@dataclass(frozen=True, slots=True)
class Part:
    """A Parquet file, with rows of one table."""

    table: str
    path: str  # in the store
    rows: int
    bytes: int
    sha256: str
    epoch: int
    first_seq: int  # of the catalog's changes that it has, first and last
    last_seq: int


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

    @property
    def path(self) -> str:
        return f"{_folder(self.home)}/{self.number:010}.json"


def parts_of(manifests: Iterable[Manifest], table: str) -> list[Part]:
    """All parts of a table, of all homes."""
    return [part for manifest in manifests for part in manifest.parts if part.table == table]


def homes(store: Store, url: str) -> list[str]:
    """The homes that have a manifest, in order.

    Args:
        url: of the store, for messages, here and in all that follows.
    """
    with reached(url):
        found = store.list_with_delimiter(f"{ROOT}/manifest")["common_prefixes"]
    return sorted(path.rstrip("/").rpartition("/")[2] for path in found)


def newest(store: Store, url: str) -> list[Manifest]:
    """The manifest in force of each home; raises as `newest_of`."""
    found = (newest_of(store, url, home) for home in homes(store, url))
    return [manifest for manifest in found if manifest]


def newest_of(store: Store, url: str, home: str) -> Manifest | None:
    """The manifest of this home that is in force.

    Raises:
        BadInput: it is of a newer version of this program, or no manifest.
        Unavailable: the store does not answer.
    """
    if not (paths := manifests_of(store, url, home)):
        return None
    with reached(url):
        text = bytes(store.get(paths[-1]).bytes())
    return _read(text, f"{url}/{paths[-1]}")


def manifests_of(store: Store, url: str, home: str) -> list[str]:
    """The paths of all manifests of a home, the newest last."""
    with reached(url):
        found = [meta["path"] for some in store.list(_folder(home)) for meta in some]
    return sorted(path for path in found if path.endswith(".json"))


def put(store: Store, url: str, manifest: Manifest) -> None:
    """Put a manifest in force; its parts are there.

    Raises:
        obstore.exceptions.AlreadyExistsError: another process has written one of this number.
    """
    text = json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1).encode()
    with reached(url):
        store.put(manifest.path, text, mode="create")


def refuse_halves(store: Store, url: str, parts: Sequence[Part]) -> None:
    """Raises BadInput: one of these is missing, or is not as long as its manifest says."""
    with reached(url):
        lists = (store.list(f"{ROOT}/{table}") for table in {part.table for part in parts})
        sizes = {meta["path"]: meta["size"] for found in lists for some in found for meta in some}
    for part in parts:
        if (size := sizes.get(part.path)) is None:
            raise BadInput(f"{url}/{part.path} is missing, though a manifest names it")
        if size != part.bytes:
            raise BadInput(f"{url}/{part.path} is damaged: it has {size} bytes of {part.bytes}")


def home_name(crawl_dir: Path) -> str:
    """The name of a folder among others: random, and kept in its file `home`, which is made once."""
    file = crawl_dir / "home"
    if not file.exists():
        with replaced(file) as new:
            new.write(secrets.token_hex(6).encode())
    return file.read_text("ascii").strip()


def _folder(home: str) -> str:
    return f"{ROOT}/manifest/{home}"


def _read(text: bytes, name: str) -> Manifest:
    try:
        said: dict[str, Any] = json.loads(text)
        version = said.pop("format")
        if version > FORMAT:
            raise BadInput(f"{name} is of a newer version ({version}) of this program: update it")
        said["parts"] = tuple(Part(**part) for part in said["parts"])
        said["replaced"] = tuple((path, since) for path, since in said["replaced"])
        return Manifest(**said)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{name} is no manifest of a dataset: {error}") from None
