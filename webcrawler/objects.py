"""Files that other machines read, too: in a folder that they share, or in a bucket of S3.

The stores are obstore's. Where keys and address of a bucket stand, its users know: AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, or the role of the machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webcrawler.errors import BadInput, StoreAway, require
from webcrawler.files import sync_folder

if TYPE_CHECKING:
    from obstore.store import LocalStore, S3Store

RETRY_SECONDS = 10  # of a request, by obstore itself; whoever asked tries again later
REQUEST_TIMEOUT = timedelta(minutes=3)  # obstore's own half minute is too short for parts over slow uplinks


def open_store(url: str, setting: str) -> LocalStore | S3Store:
    """Return the store at "s3://BUCKET/PREFIX", or in a folder, which is made. Asks nobody yet.

    Args:
        setting: the name of what said so, for messages.
    Raises:
        BadInput: obstore is missing, the folder cannot be made, or it is another kind of address.
    """
    require("s3", setting)
    from obstore.store import LocalStore, S3Store

    if "://" not in url:
        try:
            return LocalStore(Path(url).absolute(), mkdir=True)
        except OSError as error:
            raise BadInput(f"{setting}={url}: the folder cannot be made: {error}") from error
    address = urlsplit(url)
    if address.scheme != "s3" or not address.netloc:
        raise BadInput(f"{setting}={url} is neither a folder nor s3://BUCKET/PREFIX")
    endpoint = os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT", "")
    return S3Store(
        address.netloc,
        prefix=address.path.strip("/") or None,
        client_options={"allow_http": endpoint.startswith("http://"), "timeout": REQUEST_TIMEOUT},
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
    )


@contextmanager
def reached(url: str) -> Iterator[None]:
    """Raise StoreAway, in one line, where a store does not do what it was asked for.

    NotFoundError, AlreadyExistsError and PreconditionError of obstore are answers, and pass.
    """
    from obstore import exceptions

    try:
        yield
    except (exceptions.NotFoundError, exceptions.AlreadyExistsError, exceptions.PreconditionError):
        raise
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
        raise StoreAway(f"{url} refuses this key: {_said(str(error))}") from error
    except exceptions.BaseError as error:
        raise StoreAway(f"{url} does not take or give files now: {_said(str(error))}") from error


def _said(error: str) -> str:
    """What a store says in XML, else what obstore does, without its times."""
    if found := re.search(r"<Message>(.*?)</Message>", error, re.DOTALL):
        return " ".join(found[1].split())[:300]
    return error.strip().partition("\n")[0].rpartition(" - ")[2].rstrip(" :")[:300]


def synced(store: LocalStore | S3Store, name: str) -> None:
    """Wait for the disk of a folder; a bucket has what it has acknowledged."""
    from obstore.store import LocalStore

    if isinstance(store, LocalStore) and store.prefix:
        path = Path(store.prefix) / name
        with path.open("rb") as file:
            os.fsync(file.fileno())
        sync_folder(path.parent)
