"""Nodes of OpenSearch on loopback, from the jars that Maven fetches once.

`python tests/cluster/opensearch.py FOLDER [NODES]` starts a cluster to try things on, until Ctrl-C.
OPENSEARCH_JARS is the folder of the jars (default ~/.cache/webcrawler-tests); JAVA_HOME may name a JDK.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

sys.path.append(str(Path(__file__).parents[1]))  # where this is the program
from ports import free_port

HERE = Path(__file__).parent
LEAST_JAVA = 21
PATIENCE_SECONDS = 240
QUICK = ("-XX:TieredStopAtLevel=1",)  # starts with half the work, and is slower later
JVM = (
    *("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC"),
    *("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"),
)


class Absent(Exception):
    """Raised when a JDK, Maven or the jars cannot be had."""


def jdk() -> Path:
    """The folder of a JDK that is new enough."""
    homes = [Path(home) for home in (os.environ.get("JAVA_HOME"),) if home]
    homes += sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)
    homes += [Path(found).resolve().parents[1] for found in (shutil.which("javac"),) if found]
    for home in homes:
        if (home / "bin/javac").exists() and _version(home) >= LEAST_JAVA:
            return home
    raise Absent(f"no JDK of version {LEAST_JAVA} or newer")


def _version(home: Path) -> int:
    said = subprocess.run([home / "bin/javac", "-version"], capture_output=True, text=True)
    found = re.search(r"(\d+)", said.stdout + said.stderr)
    return int(found[1]) if found else 0


def jars() -> Path:
    """The folder of the jars and of the launcher's class; filled by one process at a time."""
    folder = Path(os.environ.get("OPENSEARCH_JARS") or Path.home() / ".cache/webcrawler-tests").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("opensearch-3.*.jar")):
            _fetch(folder)
        compiled, source = folder / "TestNode.class", HERE / "TestNode.java"
        if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
            javac = [jdk() / "bin/javac", "-cp", f"{folder}/*", "-d", folder, source]
            subprocess.run(javac, check=True)
    return folder


def _fetch(folder: Path) -> None:
    if not (maven := shutil.which("mvn")):
        raise Absent("no Maven (mvn), which fetches OpenSearch")
    with tempfile.TemporaryDirectory(dir=folder) as part:  # all of them, or none
        pom = ["-f", HERE / "pom.xml", f"-DoutputDirectory={part}"]
        done = subprocess.run(
            [maven, "-q", "-B", *pom, "dependency:copy-dependencies"], capture_output=True, text=True
        )
        if done.returncode:
            raise Absent(f"Maven could not fetch OpenSearch: {done.stdout[-400:]}")
        for jar in sorted(Path(part).iterdir(), key=lambda jar: jar.name.startswith("opensearch-3.")):
            jar.replace(folder / jar.name)


class Node:
    """One server of a cluster; it can be killed, stopped and started again from its files."""

    def __init__(self, name: str, home: Path, java: tuple[str, ...]) -> None:
        self.name, self.home, self._java = name, home, java
        self.port, self.transport_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, settings: dict[str, str]) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        folder = jars()
        own = {
            "path.home": self.home,
            "node.name": self.name,
            "http.port": self.port,
            "transport.port": self.transport_port,
        }
        words = [f"{name}={value}" for name, value in {**settings, **own}.items()]
        java = [jdk() / "bin/java", *JVM, *self._java, "-cp", f"{folder}:{folder}/*"]
        with (self.home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*java, "TestNode", *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait()

    def pause(self) -> None:
        """It answers nothing any more, and its connections stay."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urlopen(asked, timeout=60) as answer:
            return json.load(answer)


class Cluster:
    """All nodes of one cluster; any of them answers for it."""

    def __init__(self, folder: Path, nodes: int = 1, java: tuple[str, ...] = QUICK, **settings: str) -> None:
        self.nodes = [Node(f"node{n}", folder / f"node{n}", java) for n in range(1, nodes + 1)]
        self._settings = {
            "cluster.name": "test",
            "discovery.seed_hosts": ",".join(f"127.0.0.1:{node.transport_port}" for node in self.nodes),
            "cluster.initial_cluster_manager_nodes": ",".join(node.name for node in self.nodes),
            "action.auto_create_index": "false",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "indices.breaker.total.use_real_memory": "false",  # it counts garbage
            # A copy that is begun while a node dies may hang: it is begun again, not after half an hour.
            "indices.recovery.recovery_activity_timeout": "10s",
            "indices.recovery.internal_action_timeout": "10s",
            "indices.recovery.internal_action_long_timeout": "20s",
            **{name.replace("__", "."): value for name, value in settings.items()},
        }

    def url(self, name: str) -> str:
        """The SINK_URL of a collection of that name."""
        return f"http://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}/{name}"

    def start(self) -> None:
        for node in self.nodes:
            self.start_node(node)
        self.wait()

    def start_node(self, node: Node) -> None:
        node.start(self._settings)

    def wait(self) -> None:
        """Until all nodes are there, and each shard has all of its copies."""
        assert self.becomes_green(PATIENCE_SECONDS), (self.ask("/_cat/shards?format=json"), self.recoveries())

    def becomes_green(self, within_seconds: float) -> bool:
        deadline = time.monotonic() + within_seconds
        while time.monotonic() < deadline:
            with suppress(OSError, ValueError):
                if self._health()["status"] == "green":
                    return True
            dead = [node for node in self.nodes if not node.is_alive]
            assert len(dead) < len(self.nodes), (dead[0].home / "log").read_text("utf-8")[-3000:]
            time.sleep(0.1)
        return False

    def recoveries(self) -> list[dict[str, str]]:
        """The copies of shards that are being made."""
        found: list[dict[str, str]] = self.ask("/_cat/recovery?active_only=true&format=json")
        return found

    def ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        """What the first node that is alive answers."""
        return next(node for node in self.nodes if node.is_alive).ask(path, method, body)

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()

    def _health(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("/_cluster/health")
        alive = sum(node.is_alive for node in self.nodes)
        return found if found["number_of_nodes"] == alive else {"status": "other nodes"}


@contextmanager
def cluster(
    folder: Path, nodes: int = 1, java: tuple[str, ...] = QUICK, **settings: str
) -> Iterator[Cluster]:
    """A cluster until the block ends. In names of settings, `__` stands for a dot."""
    made = Cluster(folder, nodes, java, **settings)
    try:
        made.start()
        yield made
    finally:
        made.stop()


if __name__ == "__main__":
    with cluster(Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 3, ()) as opened:
        print(f"SINK_URL={opened.url('NAME')}", flush=True)
        with suppress(KeyboardInterrupt):
            signal.pause()
