"""A Redis Cluster of three nodes on loopback, each with a replica if one likes, formed in a few seconds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import redis
from ports import free_port
from redis.backoff import NoBackoff
from redis.retry import Retry
from waiting import until

from webcrawler.connection.embedded import installed_binaries
from webcrawler.connection.server import first_that_runs
from webcrawler.errors import Unavailable

SLOTS = 16_384


class Node:
    """One server of the cluster; it can be killed and started again from its log."""

    def __init__(self, folder: Path, binary: Path) -> None:
        folder.mkdir()
        self._folder, self._binary = folder, binary
        self.port, self.bus_port = free_port(), free_port()
        self.start()

    def start(self) -> None:
        options = {
            "port": self.port,
            "cluster-port": self.bus_port,
            "bind": "127.0.0.1",
            "cluster-enabled": "yes",
            "cluster-node-timeout": 5000,
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            "logfile": "log",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._process = subprocess.Popen([self._binary, *words], cwd=self._folder)
        self.client = redis.Redis(port=self.port, protocol=2, retry=Retry(NoBackoff(), 0))
        until(self._answers, "the node")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self.client.close()

    @property
    def state(self) -> dict[str, str]:
        found: dict[str, str] = self.client.execute_command("CLUSTER INFO")
        return found

    @property
    def id(self) -> str:
        found: str = self.client.execute_command("CLUSTER MYID")
        return found

    def knows(self, nodes: int) -> bool:
        return (self.state["cluster_state"], self.state["cluster_known_nodes"]) == ("ok", str(nodes))

    def is_copied(self) -> bool:
        """Does a replica have all that it has?"""
        found = self.client.info("replication")
        return (
            found["role"] == "master" and found.get("slave0", {}).get("offset") == found["master_repl_offset"]
        )

    def _answers(self) -> bool:
        return holds(self.client.ping)


class Cluster:
    """Any node's URL leads to all of it."""

    def __init__(self, folder: Path, replicas: bool) -> None:
        binary = first_that_runs(installed_binaries())
        names = ("first", "second", "third")
        self.nodes = [Node(folder / name, binary) for name in names]
        self.replicas = [Node(folder / f"{name}-copy", binary) for name in names if replicas]
        self.url = f"redis://127.0.0.1:{self.nodes[0].port}"

    def form(self) -> None:
        bounds = [SLOTS * at // len(self.nodes) for at in range(len(self.nodes) + 1)]
        for epoch, node in enumerate(self.nodes, 1):
            slots = bounds[epoch - 1], bounds[epoch] - 1
            node.client.execute_command("CLUSTER ADDSLOTSRANGE", *slots)
            node.client.execute_command("CLUSTER SET-CONFIG-EPOCH", epoch)  # before they meet
        first, *others = self.nodes + self.replicas
        for other in others:
            other.client.execute_command("CLUSTER MEET", "127.0.0.1", first.port, first.bus_port)
        self.wait()
        for primary, replica in zip(self.nodes, self.replicas, strict=False):
            replica.client.execute_command("CLUSTER REPLICATE", primary.id)
            until(partial(holds, primary.is_copied), "the replica")

    def wait(self) -> None:
        """Until all nodes know that all slots are served."""
        every = self.nodes + self.replicas
        for node in every:
            until(partial(holds, partial(node.knows, len(every))), "all nodes and slots")

    def stop(self) -> None:
        for node in self.nodes + self.replicas:
            node.kill()


@contextmanager
def cluster(folder: Path, replicas: bool = False) -> Iterator[Cluster]:
    made = Cluster(folder, replicas)
    try:
        made.form()
        yield made
    finally:
        made.stop()


def holds(condition: Callable[[], bool]) -> bool:
    """Does it hold? What cannot be asked, as a node is down, does not."""
    with suppress(redis.RedisError, Unavailable):
        return condition()
    return False
