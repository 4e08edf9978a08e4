"""The keys of one frontier in Redis: the partitions that they lie in, and the Lua operations on them."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

from redis.cluster import RedisCluster
from redis.exceptions import NoScriptError

from webcrawler import urls
from webcrawler.errors import BadInput

Argument = str | bytes | int | float
Client = Any  # a redis.Redis or RedisCluster that answers in bytes; redis-py types answers as bytes or str
T = TypeVar("T")

LEASING = ("lease", "fetched", "expire")  # operations after which nothing new is due at once
SHARED = ("server", "robots")  # kinds of keys that all frontiers share: no frontier can have such a name
QUIET_SECONDS = (
    0.25  # for which a partition with nothing due is not asked again: others may send it something
)
FOREIGN_SECONDS = 1.0  # the same, where another worker is at home, which hears of it first


class Partition(NamedTuple):
    """A part of a frontier: its keys begin with one of two prefixes, and lie on one node of a cluster."""

    base: str  # prefix of what all frontiers share
    prefix: str  # prefix of what is this frontier's own


class Call(NamedTuple):
    """One operation on one partition."""

    partition: Partition
    operation: str
    arguments: Sequence[Argument]


class Partitions(tuple[Partition, ...]):
    """The partitions of one frontier (Cho 1998, 5.1: 500 queues by a hash of the server's name).

    Servers of one registrable domain share a partition, so that the domain's budgets hold.
    """

    @classmethod
    def of(cls, name: str, number: int) -> Partitions:
        return cls(Partition(f"{{crawl:{n}}}:", f"{{crawl:{n}}}:{name}:") for n in range(number))

    def of_server(self, server: str) -> Partition:
        return self[0] if len(self) == 1 else self[_place(urls.registrable_domain(server), len(self))]

    def split(self, things: Iterable[T], server_of: Callable[[T], str]) -> dict[Partition, list[T]]:
        """Sorts things by the partition of their server; those of one partition stay in their order."""
        if len(self) == 1:
            found = list(things)
            return {self[0]: found} if found else {}
        by_partition: dict[Partition, list[T]] = {}
        for thing in things:
            by_partition.setdefault(self.of_server(server_of(thing)), []).append(thing)
        return by_partition


@lru_cache(maxsize=16_384)
def _place(domain: str, number: int) -> int:
    return int.from_bytes(blake2b(domain.encode(), digest_size=8).digest()) % number


class Prospect(NamedTuple):
    """What a partition has, and when something may be due there, by the clock of this process."""

    queued: int
    leased: int
    due: float | None  # None: nothing waits
    quiet_until: float
    of_doubtful: bool  # was it asked what is due of doubtful servers, too?
    is_foreign: bool


class Outlook:
    """The last answers of all partitions to one worker; its threads share it."""

    def __init__(self) -> None:
        self._answers: dict[Partition, Prospect] = {}

    def note(
        self, partition: Partition, answer: tuple[int, int, int], of_doubtful: bool, is_foreign: bool
    ) -> None:
        """A partition has answered {queued, leased, ms until something may be due or -1}."""
        now, (queued, leased, wait_ms) = time.monotonic(), answer
        due = now + wait_ms / 1000 if wait_ms >= 0 else None
        latest = now + (FOREIGN_SECONDS if is_foreign else QUIET_SECONDS)
        quiet_until = latest if due is None else min(due, latest)
        self._answers[partition] = Prospect(queued, leased, due, quiet_until, of_doubtful, is_foreign)

    def stir(self, partitions: Iterable[Partition]) -> None:
        """This worker has changed something there: some of it may be due."""
        for partition in partitions:
            answer = self._answers.get(partition)
            if answer and not answer.is_foreign:
                self._answers[partition] = answer._replace(quiet_until=0.0)

    def is_quiet(self, partition: Partition, of_doubtful: bool) -> bool:
        """Is it too early to ask again?"""
        answer = self._answers.get(partition)
        return bool(answer and answer.of_doubtful >= of_doubtful and time.monotonic() < answer.quiet_until)

    def last(self, partition: Partition) -> tuple[int, int, int]:
        """What it answered, as of now: queued, leased, wait_ms; nothing, if it was not asked yet."""
        answer = self._answers.get(partition)
        if not answer:
            return 0, 0, -1
        wait_ms = -1 if answer.due is None else max(0, round(1000 * (answer.due - time.monotonic())))
        return answer.queued, answer.leased, wait_ms

    def forget(self) -> None:
        self._answers.clear()


class Slots:
    """What the parts of a `Frontier` share: its client, its name and its partitions.

    Args:
        client: answers in bytes; for this frontier alone, as its new connections are counted.
        partitions: their number if the frontier is still empty; 0: as it was made, else as for index crawls,
            since how servers are treated is kept in partitions, too; else one.
    Attributes:
        connections: made so far, not counting those made before this object was. After each, Redis may have
            come back without its last writes.
        outlook: what its partitions answered last.
    Raises:
        BadInput: the name has other characters, or is taken.
    """

    def __init__(self, client: Client, name: str, partitions: int = 0) -> None:
        if name in SHARED or not re.fullmatch(r"[\w.:-]+", name):
            raise BadInput(
                f"no frontier can be called {name!r}: letters, digits, . - and _; set FRONTIER_NAME"
            )
        self.client, self.name = client, name
        self.connections = 0
        self.outlook = Outlook()
        self._wanted = partitions

        def connected(_: Any) -> None:
            self.connections += 1

        def connect(connection: Any) -> None:
            connection.on_connect()
            connected(connection)

        if isinstance(client, RedisCluster):
            client.user_on_connect_func = connected  # redis-py's own place for it
        else:
            client.connection_pool.connection_kwargs["redis_connect_func"] = connect

    @cached_property
    def partitions(self) -> Partitions:
        number = self._wanted or self.stored_partitions() or int(self.stored("partitions", "index") or 1)
        return Partitions.of(self.name, number)

    def stored_partitions(self) -> int:
        """The number of partitions that it was made with; 0: it was not made yet."""
        return int(self.stored("partitions") or 0)

    def stored(self, field: str, name: str = "") -> str:
        """What this frontier, or another, was made with: `mode`, `partitions` or `turns`; "": it was not."""
        first = Partitions.of(name or self.name, 1)[0]
        return (self.client.hget(first.prefix + "meta", field) or b"").decode(errors="replace")

    def run(self, calls: Iterable[Call]) -> list[Any]:
        """Runs operations in one round trip: each is atomic, and those of one partition run in order.

        Returns:
            Their answers, in the order of `calls`.
        """
        pending = list(calls)
        answers = self._send(pending)
        unknown = [i for i, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
        if unknown:  # these were not run: only they are sent again
            for operation in operations():  # a server knows all scripts or none, so calls keep their order
                self.client.script_load(source(operation))
            for i, answer in zip(unknown, self._send([pending[i] for i in unknown]), strict=True):
                answers[i] = answer
        self.outlook.stir(call.partition for call in pending if call.operation not in LEASING)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def run_split(
        self,
        operation: str,
        things: Iterable[T],
        server_of: Callable[[T], str],
        arguments: Callable[[list[T]], Sequence[Argument]],
    ) -> list[tuple[list[T], Any]]:
        """Runs an operation in each partition that has a thing's server, in one round trip.

        Args:
            arguments: of the operation, for the things of one partition.
        Returns:
            The things of each such partition, with the operation's answer.
        """
        split = self.partitions.split(things, server_of)
        answers = self.run(Call(partition, operation, arguments(own)) for partition, own in split.items())
        return list(zip(split.values(), answers, strict=True))

    def _send(self, calls: Sequence[Call]) -> list[Any]:
        if len(calls) == 1:  # without a pipeline, which costs as much again as the call
            (call,) = calls
            try:
                return [self.client.evalsha(_sha(call.operation), 2, *call.partition, *call.arguments)]
            except NoScriptError as error:
                return [error]
        pipe = self.client.pipeline(transaction=False)
        for call in calls:
            pipe.execute_command("EVALSHA", _sha(call.operation), 2, *call.partition, *call.arguments)
        return list(pipe.execute(raise_on_error=False))


def now_ms(client: Client, base: str) -> int:
    """The time of a partition, as its operations have it: by its Redis server's clock, and never going back.

    Args:
        base: of the partition.
    """
    return int(client.eval(source("now"), 2, base, base))


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
