"""Files that are replaced as a whole, and files of numpy arrays.

After a power failure, the old or the new content is there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import BinaryIO

# Held to read a file of arrays: numpy reads headers with `ast`, whose count of its depth threads share: now
# and then that ends in a SystemError (seen with Python 3.11.7; CPython issue 106905).
READING = Lock()


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of this one when the block ends; one writer at a time.

    It is written aside, with the suffix `.new`, and durable at the end of the block.

    Raises:
        OSError: for example, the disk is full; the old file stays.
    """
    aside = path.with_suffix(".new")  # of a writer that died: overwritten
    with aside.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names of new files in it durable, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)
