"""The files of a dataset: by key, by a path of this machine, by an address of Hadoop; some are JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from webcrawler.errors import BadInput
from webcrawler.objects import open_store, reached

FORMAT = 1  # of manifests, runs and tables; readers refuse a higher one
ROOT = "v1"
Said = TypeVar("Said")


class File(NamedTuple):
    """A file of the dataset, and how long it is."""

    key: str
    bytes: int


class Place:
    """A folder that all machines share, or a bucket; the latter's files are copied before they are read.

    Raises:
        BadInput: DATASET_URL is neither. Unavailable, of all methods: it does not answer now.
    """

    def __init__(self, url: str) -> None:
        self.url, self._store = url.rstrip("/"), open_store(url, "DATASET_URL")
        self._folder = None if "://" in url else Path(url).absolute()

    def local(self, key: str, copies: Path) -> Path:
        """Return where a file can be read on this machine: there, or a copy in this folder.

        Raises:
            BadInput: the key, which another machine has written, leads out of the dataset.
        """
        if key.startswith("/") or ".." in key.split("/"):
            raise BadInput(f"{self.url}: {key[:100]!r} is no file of a dataset")
        if self._folder:
            return self._folder / key
        copy = copies / key
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            with reached(self.url), copy.with_suffix(".part").open("wb") as file:
                for some in self._store.get(key).stream():
                    file.write(some)
            copy.with_suffix(".part").rename(copy)
        return copy

    def hadoop(self, key: str) -> str:
        """Return what Spark calls a file or a folder."""
        if self._folder:
            return f"file://{self._folder / key}"
        address = urlsplit(self.url)
        return f"s3a://{address.netloc}/{'/'.join(filter(None, (address.path.strip('/'), key)))}"

    def files(self, folder: str, suffix: str = "") -> list[File]:
        """List all files in a folder and those in it, by key."""
        with reached(self.url):
            found = [File(meta["path"], meta["size"]) for some in self._store.list(folder) for meta in some]
        return sorted(file for file in found if file.key.endswith(suffix))

    def put(self, key: str, file: Path) -> None:
        with reached(self.url):
            self._store.put(key, file)

    def create(self, key: str, said: dict[str, Any]) -> bool:
        """Write JSON where there is no such file yet; tell whether that was so."""
        from obstore.exceptions import AlreadyExistsError

        text = json.dumps({"format": FORMAT, **said}, ensure_ascii=False, indent=1).encode()
        try:
            with reached(self.url):
                self._store.put(key, text, mode="create")
        except AlreadyExistsError:
            return False
        return True

    def read(self, key: str, make: Callable[[dict[str, Any]], Said]) -> Said:
        """Return what is made of a JSON file's values.

        Raises:
            BadInput: it is of a newer version of this program, damaged, or missing.
        """
        name = f"{self.url}/{key}"
        try:
            with reached(self.url):
                said = json.loads(bytes(self._store.get(key).bytes()))
            if (version := said.pop("format")) > FORMAT:
                raise BadInput(f"{name} is of a newer version ({version}) of this program: update it")
            return make(said)
        except FileNotFoundError:  # obstore raises Python's own
            raise BadInput(f"{name} is missing") from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadInput(f"{name} is damaged: {error}") from None

    def delete(self, keys: Sequence[str]) -> None:
        """Delete files; one that is not there is no fault."""
        if self._folder:
            for key in keys:
                (self._folder / key).unlink(missing_ok=True)
        elif keys:
            with reached(self.url):
                self._store.delete(keys)

    def remove(self, folder: str) -> None:
        """Remove a folder with all that is in it; nothing where there is none."""
        if self._folder:
            shutil.rmtree(self._folder / folder, ignore_errors=True)
        else:
            self.delete([file.key for file in self.files(folder)])
