"""A Redis Cluster of three nodes on loopback, without replicas, formed in about two seconds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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

    def knows_all(self) -> bool:
        return (self.state["cluster_state"], self.state["cluster_known_nodes"]) == ("ok", "3")

    def _answers(self) -> bool:
        return holds(self.client.ping)


class Cluster:
    """Any node's URL leads to all of it."""

    def __init__(self, folder: Path) -> None:
        binary = first_that_runs(installed_binaries())
        self.nodes = [Node(folder / name, binary) for name in ("first", "second", "third")]
        self.url = f"redis://127.0.0.1:{self.nodes[0].port}"

    def form(self) -> None:
        bounds = [SLOTS * at // len(self.nodes) for at in range(len(self.nodes) + 1)]
        for epoch, node in enumerate(self.nodes, 1):
            slots = bounds[epoch - 1], bounds[epoch] - 1
            node.client.execute_command("CLUSTER ADDSLOTSRANGE", *slots)
            node.client.execute_command("CLUSTER SET-CONFIG-EPOCH", epoch)  # before they meet
            for other in self.nodes[: epoch - 1]:
                node.client.execute_command("CLUSTER MEET", "127.0.0.1", other.port, other.bus_port)
        self.wait()

    def wait(self) -> None:
        """Until all nodes know that all slots are served."""
        for node in self.nodes:
            until(node.knows_all, "all nodes and slots")

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    made = Cluster(folder)
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
