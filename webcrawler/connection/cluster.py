"""A Redis Cluster: the same commands, each sent to the node that holds its keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.cluster import ClusterPipeline, RedisCluster
from redis.exceptions import RedisClusterException


class _Routed:
    """What redis-py's cluster does otherwise than we need it, in clients and pipelines alike."""

    def determine_slot(self, *command: Any) -> int | None:
        try:
            slot: int | None = super().determine_slot(*command)  # type: ignore[misc]
        except RedisClusterException as error:  # keys of several nodes in one command: our bug
            raise ValueError(f"{error}: {command[:5]}") from error
        return slot

    def _get_command_keys(self, *command: Any) -> Any:
        # Else a pipeline asks the server first, with all arguments, and waits: once for each EVALSHA.
        if command[0] == "EVALSHA":
            return command[3 : 3 + int(command[2])]
        return super()._get_command_keys(*command)  # type: ignore[misc]


class Cluster(_Routed, RedisCluster):
    """A client of all nodes; its start node is enough to find the others.

    It fails as `redis.Redis` does: with a `redis.RedisError`, also where no node answers at all.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        with _no_node_is_no_connection():
            super().__init__(*arguments, **options)

    def execute_command(self, *command: Any, **options: Any) -> Any:
        with _no_node_is_no_connection():
            return super().execute_command(*command, **options)  # type: ignore[no-untyped-call]

    def pipeline(self, transaction: bool | None = None, shard_hint: Any = None) -> Any:
        """Commands for several nodes in one round trip.

        Where a node is away when it is sent, nothing is. Where one goes away later, its commands' answers
        are errors, and the other nodes have done theirs.
        """
        pipe = super().pipeline(transaction, shard_hint)  # type: ignore[no-untyped-call]
        pipe.__class__ = _Pipeline  # redis-py has no way to say which; it differs in methods only
        return pipe

    def check(self) -> None:
        """Ask every primary.

        Raises:
            redis.RedisError: one does not answer, or does not know that all slots are served.
        """
        self.ping(target_nodes=self.PRIMARIES)
        states: Any = self.cluster_info(target_nodes=self.PRIMARIES)
        for node, state in states.items():
            if state["cluster_state"] != "ok":
                raise redis.exceptions.ClusterDownError(f"{node} says that the cluster is down")


class _Pipeline(_Routed, ClusterPipeline):
    def execute(self, raise_on_error: bool = True) -> list[Any]:
        with _no_node_is_no_connection():
            return list(super().execute(raise_on_error))


@contextmanager
def _no_node_is_no_connection() -> Iterator[None]:
    try:
        yield
    except RedisClusterException as error:  # no RedisError
        raise redis.ConnectionError(str(error)) from error
