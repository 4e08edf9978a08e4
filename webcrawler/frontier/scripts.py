"""Loads the Lua operations and runs them; a script unknown to the server is sent again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from redis.exceptions import NoScriptError

Argument = str | bytes | int | float
Client = Any  # a redis.Redis that answers in bytes; redis-py types every answer as bytes or str


@cache
def source(operation: str) -> str:
    """The text of `OPERATION-2.lua` with what the operations share before it, comments left out."""
    folder = files("webcrawler.frontier").joinpath("lua")
    texts = [folder.joinpath(f"{name}.lua").read_text("utf-8") for name in ("_common", f"{operation}-2")]
    return re.sub(r"(?m)^\s*--.*\n", "", "\n".join(texts))


@cache
def operations() -> tuple[str, ...]:
    """Their names, from those of the files."""
    names = (file.name for file in files("webcrawler.frontier").joinpath("lua").iterdir())
    return tuple(name.removesuffix("-2.lua") for name in names if name.endswith("-2.lua"))


@cache
def _sha(operation: str) -> str:
    return hashlib.sha1(source(operation).encode()).hexdigest()  # Redis' own name for a script


class Scripts:
    """The operations of one frontier: `base` is the prefix that all frontiers share, `prefix` its own."""

    def __init__(self, client: Client, base: str, prefix: str) -> None:
        self.client = client
        self._keys = (base, prefix)

    def run(self, operation: str, *arguments: Argument) -> Any:
        """One round trip; the answer as Redis gives it."""
        return self.pipeline([(operation, arguments)])[0]

    def pipeline(self, calls: Iterable[tuple[str, Iterable[Argument]]]) -> list[Any]:
        """Several operations in order in one round trip, each atomic, not all together."""
        pending = [(operation, tuple(arguments)) for operation, arguments in calls]
        answers = self._send(pending)
        unknown = [i for i, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
        if unknown:  # refused, so not run: only these are sent again
            for operation in operations():  # a server knows all or none, so calls keep their order
                self.client.script_load(source(operation))
            for i, answer in zip(unknown, self._send([pending[i] for i in unknown]), strict=True):
                answers[i] = answer
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def _send(self, calls: list[tuple[str, tuple[Argument, ...]]]) -> list[Any]:
        pipe = self.client.pipeline(transaction=False)
        for operation, arguments in calls:
            pipe.execute_command("EVALSHA", _sha(operation), 2, *self._keys, *arguments)
        return list(pipe.execute(raise_on_error=False))
