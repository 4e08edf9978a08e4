"""Loads the Lua operations and runs them; a script that a server does not know is sent again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from redis.exceptions import NoScriptError

Argument = str | bytes | int | float
Client = (
    Any  # a redis.Redis or RedisCluster that answers in bytes; redis-py types every answer as bytes or str
)


class Partition(NamedTuple):
    """A part of a frontier: its keys begin with one of two prefixes, and lie on one node of a cluster."""

    base: str  # prefix of what all frontiers share
    prefix: str  # prefix of what is this frontier's own


class Call(NamedTuple):
    """One operation on one partition."""

    partition: Partition
    operation: str
    arguments: Sequence[Argument]


def now_ms(client: Client, base: str) -> int:
    """The time by the clock of the Redis server that holds a partition.

    Args:
        base: of the partition.
    """
    seconds, micros = client.eval("return redis.call('TIME')", 1, base)
    return int(seconds) * 1000 + int(micros) // 1000


@cache
def source(operation: str) -> str:
    """The text of `OPERATION-2.lua`, after the parts that operations share, without comments."""
    folder = files("webcrawler.frontier").joinpath("lua")
    shared = sorted(file.name for file in folder.iterdir() if file.name.startswith("_"))
    texts = [folder.joinpath(name).read_text("utf-8") for name in (*shared, f"{operation}-2.lua")]
    return re.sub(r"(?m)^\s*--.*\n", "", "\n".join(texts))


@cache
def operations() -> tuple[str, ...]:
    """The names of all operations."""
    names = (file.name for file in files("webcrawler.frontier").joinpath("lua").iterdir())
    return tuple(name.removesuffix("-2.lua") for name in names if name.endswith("-2.lua"))


@cache
def _sha(operation: str) -> str:
    return hashlib.sha1(source(operation).encode()).hexdigest()  # Redis' own name for a script


def run(client: Client, calls: Iterable[Call]) -> list[Any]:
    """Runs operations in one round trip: each is atomic, and those of one partition run in order.

    Returns:
        Their answers, in the order of `calls`.
    """
    pending = list(calls)
    answers = _send(client, pending)
    unknown = [i for i, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
    if unknown:  # these were not run: only they are sent again
        for operation in operations():  # a server knows all scripts or none, so calls keep their order
            client.script_load(source(operation))
        for i, answer in zip(unknown, _send(client, [pending[i] for i in unknown]), strict=True):
            answers[i] = answer
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


def _send(client: Client, calls: Sequence[Call]) -> list[Any]:
    if len(calls) == 1:
        return [_send_one(client, calls[0])]
    pipe = client.pipeline(transaction=False)
    for call in calls:
        pipe.execute_command("EVALSHA", _sha(call.operation), 2, *call.partition, *call.arguments)
    return list(pipe.execute(raise_on_error=False))


def _send_one(client: Client, call: Call) -> Any:
    """Without a pipeline, which costs as much again as the call."""
    try:
        return client.evalsha(_sha(call.operation), 2, *call.partition, *call.arguments)
    except NoScriptError as error:
        return error
