"""Calls to a cluster: the next node where one does not answer, a deadline, and one line for what is wrong."""

from __future__ import annotations

import gzip
import json
import re
import time
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3.exceptions import HTTPError, SSLError

from webcrawler.errors import BadInput, Unavailable

LEAST = {"opensearch": (3, 2), "elasticsearch": (8, 15)}
PATIENCE_SECONDS = 60.0
REST_SECONDS = 10.0  # for which a node that did not answer is asked last
ZIPPED = 1_000  # bytes, from which on what is sent is compressed
PASSING = frozenset({429, 502, 503, 504})  # statuses that another try may not meet
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")  # of a collection: its indexes are named after it


class Address(NamedTuple):
    """What SINK_URL and SEARCH_URL say."""

    nodes: tuple[str, ...]  # "https://host:9200"
    name: str  # of the collection
    user: str
    password: str


class Answer(NamedTuple):
    """What a node said, whatever that was."""

    status: int
    said: Any


def address(url: str) -> Address:
    """Read SINK_URL or SEARCH_URL.

    Raises:
        BadInput: it is not valid; the message has no password.
    """
    wanted = "https://[user:password@]host[:port][,host…]/NAME"
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadInput(f"the address of a cluster is not valid: {wanted}; quote [ and ] by %") from None
    login, _, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    nodes = [host if re.search(r":\d+$", host) else f"{host}:9200" for host in hosts.split(",")]
    name = parts.path.strip("/")
    if parts.scheme not in ("http", "https") or not all(map(_NODE.fullmatch, nodes)):
        raise BadInput(f"the address of a cluster is not valid: {wanted}")
    if not NAME.fullmatch(name):
        raise BadInput(f"{name[:40]!r} cannot be a NAME of {wanted}: small letters, digits, _ and -")
    urls = tuple(f"{parts.scheme}://{node}" for node in nodes)
    return Address(urls, name, unquote(user), unquote(password))


_NODE = re.compile(r"([\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}")


class Cluster:
    """The nodes of a cluster; for any number of threads.

    The first node is asked as long as it answers. One that does not is asked last for a while.

    Args:
        url: as SINK_URL.
    Raises:
        BadInput: the URL is not valid.
    """

    def __init__(self, url: str) -> None:
        self._nodes, self.name, user, password = address(url)
        self._headers = {"Content-Type": "application/json"}
        if user:
            self._headers |= urllib3.make_headers(basic_auth=f"{user}:{password}")
        self._pool = urllib3.PoolManager(maxsize=16, retries=False)
        self._failed: dict[str, float] = {}  # by node, on the monotonic clock

    def close(self) -> None:
        self._pool.clear()

    def check(self) -> None:
        """Ask for its version.

        Raises:
            BadInput: it is none that can be used, or does not let us in.
            Unavailable: no node answers.
        """
        said = self.ask("GET", "/").get("version")
        if not isinstance(said, dict):
            raise BadInput(f"{self._nodes[0]} is no OpenSearch")
        kind = said.get("distribution", "elasticsearch")
        version = tuple(map(int, re.findall(r"\d+", said["number"])[:2]))
        if version < LEAST.get(kind, (0,)):
            least = " or ".join(f"{name} {major}.{minor}" for name, (major, minor) in LEAST.items())
            raise BadInput(f"{self._nodes[0]} is {kind} {said['number']}: {least} is needed, or newer")

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        seconds: float = PATIENCE_SECONDS,
        may_lack: bool = False,
    ) -> dict[str, Any]:
        """What a node answers; nothing where it lacks that, and may.

        Raises:
            BadInput: it refuses that.
            Unavailable: no node answers in time, or they are too busy.
        """
        status, said = self.send(method, path, body, seconds)
        if may_lack and status == 404:
            return {}
        if status < 300:
            return said if isinstance(said, dict) else {}
        if status in PASSING:
            raise Unavailable(f"the cluster of {self._nodes[0]} answers {status}: {reason(said)}")
        raise BadInput(
            f"the cluster of {self._nodes[0]} refuses {method} {path[:80]}: {status}, {reason(said)}"
        )

    def send(self, method: str, path: str, body: object = None, seconds: float = PATIENCE_SECONDS) -> Answer:
        """What a node answers, refusals too. What is sent may arrive at two nodes.

        Raises:
            BadInput: the certificate is not trusted, or the password is wrong.
            Unavailable: no node answers in time.
        """
        headers, data = (
            self._headers,
            body if isinstance(body, bytes) else b"" if body is None else line(body),
        )
        if len(data) > ZIPPED:
            headers, data = {**headers, "Content-Encoding": "gzip"}, gzip.compress(data, 1)
        deadline, why = time.monotonic() + seconds, ""
        nodes = self._in_turn()
        for place, node in enumerate(nodes, 1):
            left = deadline - time.monotonic()
            is_last = place == len(nodes)
            try:
                answer = self._send(node, method, path, headers, data, left if is_last else left / 2)
                if is_last or answer.status != 429:  # another one may be less busy
                    return answer
            except (HTTPError, Unavailable) as error:
                self._failed[node] = time.monotonic()
                why = f"{node}: {_named(error)}"
        raise Unavailable(f"no node of the cluster answers; {why}")

    def _in_turn(self) -> list[str]:
        now = time.monotonic()
        rests = {node for node, failed in self._failed.items() if now - failed < REST_SECONDS}
        return sorted(self._nodes, key=lambda node: node in rests)

    def _send(
        self, node: str, method: str, path: str, headers: dict[str, str], data: bytes, seconds: float
    ) -> Answer:
        timeout = urllib3.Timeout(total=max(0.01, seconds))
        try:
            answer = self._pool.request(method, node + path, body=data, headers=headers, timeout=timeout)
        except SSLError as error:
            raise BadInput(f"the certificate of {node} is not trusted: {_named(error)}") from None
        if answer.status == 401:
            raise BadInput(f"{node} does not let us in: user or password is wrong")
        try:
            said = json.loads(answer.data) if answer.data else {}
        except ValueError:  # a proxy before the nodes
            said = answer.data[:200].decode(errors="replace")
        if answer.status in (502, 503, 504):
            raise Unavailable(f"{answer.status}, {reason(said)}")
        return Answer(answer.status, said)


def reason(said: Any) -> str:
    """Why something was refused, in some words."""
    error = said.get("error", said) if isinstance(said, dict) else said
    if isinstance(error, dict):
        error = error.get("reason") or error.get("type") or error
    return str(error)[:300]


def _named(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error)[:200]


def line(one: object) -> bytes:
    """One line of JSON."""
    return json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
