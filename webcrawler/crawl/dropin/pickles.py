"""Reads the pickles of scrapy-redis in a process of its own, which makes nothing but plain values.

That process reads lines of base64 and answers each with a line of JSON: {"value": …}, as `plain` writes
it, or {"refused": why}.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

from webcrawler.crawl.dropin.values import plain, restored

ALLOWED = {
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("collections", "OrderedDict"),
}
MEMORY_BYTES = 2**30


class Pickles:
    """Reads pickled values as long as it is open. `with Pickles() as pickles: pickles.read(values)`."""

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def read(self, pickled: Sequence[bytes]) -> list[Any]:
        """Returns each value, or a ValueError that says why it was not read."""
        return [self._read(value) for value in pickled]

    def _start(self) -> None:
        command = [sys.executable, "-c", f"from {__name__} import main; main()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _read(self, pickled: bytes) -> Any:
        assert self._process.stdin and self._process.stdout
        line = ""
        with suppress(BrokenPipeError):
            self._process.stdin.write(base64.b64encode(pickled).decode() + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            self._process.communicate()
            self._start()
            return ValueError("the process that reads it dies")
        answer = json.loads(line)
        return ValueError(answer["refused"]) if "refused" in answer else restored(answer["value"])


class _PlainOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it holds {module}.{name}")
        return super().find_class(module, name)


def answer(line: str) -> dict[str, Any]:
    try:
        return {"value": plain(_PlainOnly(io.BytesIO(base64.b64decode(line))).load())}
    except Exception as error:  # a damaged pickle raises anything
        return {"refused": str(error) or type(error).__name__}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for line in sys.stdin:
        print(json.dumps(answer(line)), flush=True)
