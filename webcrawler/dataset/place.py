"""The files of a dataset as jobs reach them: by key, by a path of this machine, by an address of Hadoop."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from webcrawler.errors import BadInput
from webcrawler.files import replaced
from webcrawler.objects import open_store, reached


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
        self.url, self.store = url.rstrip("/"), open_store(url, "DATASET_URL")
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
                for some in self.store.get(key).stream():
                    file.write(some)
            copy.with_suffix(".part").rename(copy)
        return copy

    def hadoop(self, key: str) -> str:
        """Return what Spark calls a file or a folder."""
        if self._folder:
            return f"file://{self._folder / key}"
        address = urlsplit(self.url)
        return f"s3a://{address.netloc}/{'/'.join(filter(None, (address.path.strip('/'), key)))}"

    def files(self, folder: str) -> list[File]:
        """List all files in a folder and those in it, by key."""
        with reached(self.url):
            found = [File(meta["path"], meta["size"]) for some in self.store.list(folder) for meta in some]
        return sorted(found)

    def put(self, key: str, file: Path) -> None:
        with reached(self.url):
            self.store.put(key, file)

    def create(self, key: str, said: object) -> bool:
        """Write JSON where there is no such file yet; tell whether that was so."""
        from obstore.exceptions import AlreadyExistsError

        try:
            with reached(self.url):
                self.store.put(key, _json(said), mode="create")
        except AlreadyExistsError:
            return False
        return True

    def read(self, key: str) -> tuple[Any, str | None]:
        """Return the JSON of a file, and its version; None and None where there is no such file.

        Raises:
            ValueError: it is no JSON.
        """
        try:
            with reached(self.url):
                answer = self.store.get(key)
                return json.loads(bytes(answer.bytes())), answer.meta["e_tag"]
        except FileNotFoundError:  # obstore raises Python's own
            return None, None

    def replace(self, key: str, said: object, version: str | None) -> bool:
        """Write JSON where the file is of that version still; tell whether it was. `alone` has to be held."""
        from obstore.exceptions import PreconditionError

        if self._folder:
            with replaced(self._folder / key) as file:
                file.write(_json(said))
            return True
        if version is None:
            return self.create(key, said)
        try:
            with reached(self.url):
                self.store.put(key, _json(said), mode={"e_tag": version})
        except PreconditionError:
            return False
        return True

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Be the only one who replaces this file, in a folder; a bucket compares versions itself."""
        if not self._folder:
            yield
            return
        with (self._folder / f"{key}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def remove(self, folder: str) -> None:
        """Remove a folder with all that is in it; nothing where there is none."""
        if self._folder:
            shutil.rmtree(self._folder / folder, ignore_errors=True)
        elif keys := [file.key for file in self.files(folder)]:
            with reached(self.url):
                self.store.delete(keys)


def _json(said: object) -> bytes:
    return json.dumps(said, ensure_ascii=False, indent=1).encode()
