"""Redis against the model of the frontier: what each key of a partition must hold; there is no other key."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgpack
from frontier_model import Model
from frontier_model_intake import Server, Url

from webcrawler.frontier.slots import Client, Partition, now_ms
from webcrawler.urls import registrable_domain, split

HOUR = 3600  # seconds; the times of the tests are further apart
COUNTED = ("taken", "turns", "domains", "others", "windows", "repeats")  # of servers and domains
BESIDE = ("tries", "deaths", "spelling", "request", "note")  # URLs
HASHES = ("meta", "counts", "site", "leases", "alone", "quarantined", *COUNTED, *BESIDE)
SORTED_SETS = ("queue", "retry", "ready", "doubtful", "wait", "ends", "workers")
SETS = ("seen", "downloading", "held", "raised")


class Keys:
    """What Redis holds of one partition, read in one go."""

    def __init__(self, client: Client, partition: Partition) -> None:
        pattern = partition.base.replace("{", "\\{")
        names = [*({key.decode() for key in client.keys(pattern + "*")} - {partition.base + "clock"})]
        self._values: dict[tuple[str, str], Any] = {}
        pipe = client.pipeline(transaction=False)
        for name in names:
            kind = name.removeprefix(partition.prefix).partition(":")[0]
            if kind in HASHES or name.startswith(partition.base + "server:"):
                pipe.hgetall(name)
            elif kind in SORTED_SETS:
                pipe.zrange(name, 0, -1, withscores=True)
            else:
                assert kind in SETS, name
                pipe.smembers(name)
        values = pipe.execute()
        self.now = now_ms(client, partition.base) / 1000
        for name, value in zip(names, values, strict=True):
            rest = name.removeprefix(partition.prefix).removeprefix(partition.base)
            kind, _, member = rest.partition(":")
            self._values[kind, member] = value

    def hash(self, kind: str, member: str = "") -> dict[str, str]:
        found = self._values.get((kind, member), {})
        return {key.decode(): value.decode("utf-8", "replace") for key, value in found.items()}

    def zset(self, kind: str, member: str = "") -> dict[str, float]:
        return {name.decode(): score for name, score in self._values.get((kind, member), [])}

    def set(self, kind: str, member: str = "") -> set[str]:
        return {name.decode() for name in self._values.get((kind, member), [])}

    def members(self, kind: str) -> list[str]:
        return sorted(member for of, member in self._values if of == kind)

    # ---- the comparison

    def compare(self, model: Model) -> None:
        self.urls(model)
        self.priorities(model)
        self.leases(model)
        self.beside_urls(model)
        self.quarantined(model)
        self.standing(model)
        self.budgets(model)
        for server in model.servers.values():
            self.politeness(model, server)
            self.site(model, server)

    def is_time(self, ms: float, expected: float, model: Model) -> bool:
        """What is past is past."""
        return bool(abs(max(0.0, ms / 1000 - self.now) - max(0.0, expected - model.now)) < HOUR)

    def urls(self, model: Model) -> None:
        queues = {server.name: model.queue(server) for server in model.servers.values()}
        expected = {name: [split(u.link.url)[1] for u in urls] for name, urls in queues.items() if urls}
        assert {name: list(self.zset("queue", name)) for name in self.members("queue")} == expected
        seen = [name for shard in self.members("seen") for name in self.set("seen", shard)]
        assert sorted(map(int, seen)) == sorted(url.link.id for url in model.urls.values())
        retry = self.zset("retry")
        assert retry.keys() == {_member(url) for url in model.in_state("queued") if url.retry}
        for url in model.in_state("queued"):
            assert not url.retry or self.is_time(retry[_member(url)], url.retry, model)

    def priorities(self, model: Model) -> None:
        """Of what waits: its score stands in a queue, or beside it while it waits for another try."""
        found = {
            f"{server} {path}": score
            for server in self.members("queue")
            for path, score in self.zset("queue", server).items()
        }
        tries = self.hash("tries")
        found |= {member: float(tries[member].split()[1]) for member in self.zset("retry")}
        expected = {_member(url): url.told for url in model.in_state("queued")}
        assert {member: -(int(score) // 2**32) for member, score in found.items()} == expected
        raised = {shard: self.set("raised", shard) for shard in self.members("raised")}
        assert raised == {n[-4:]: {o for o in model.raised if o[-4:] == n[-4:]} for n in model.raised}

    def leases(self, model: Model) -> None:
        leased = {url.link.url: url for url in model.in_state("leased")}
        found = self._values.get(("leases", ""), {}).items()
        leases = {name.decode(): msgpack.unpackb(lease)[:2] for name, lease in found}
        assert leases == {name: [url.token, url.worker] for name, url in leased.items()}
        ends = self.zset("ends")
        assert ends.keys() == leased.keys()
        assert all(self.is_time(ends[name], url.end, model) for name, url in leased.items())
        assert self.set("downloading") == {name for name, url in leased.items() if url.downloading}
        held = {worker: self.set("held", worker) for worker in self.members("held")}
        workers = {url.worker for url in leased.values()}
        assert held == {worker: {url.link.url for url in model.held(worker)} for worker in workers}
        alive = self.zset("workers")
        assert alive.keys() == model.workers.keys()
        assert all(self.is_time(alive[name], until, model) for name, until in model.workers.items())

    def beside_urls(self, model: Model) -> None:
        """Nothing is kept of a URL that is decided."""
        left = [url for url in model.urls.values() if url.state in ("queued", "leased")]
        tries = {member: int(value.split()[0]) for member, value in self.hash("tries").items()}
        assert tries.keys() <= set(map(_member, left))  # 0: of a fetch that was no try
        assert {member: n for member, n in tries.items() if n} == {
            _member(url): url.tries for url in left if url.tries
        }
        deaths = {member: int(value) for member, value in self.hash("deaths").items()}
        assert deaths == {_member(url): url.deaths + 1000 * url.alone for url in left if url.deaths}
        notes = {member: int(value) for member, value in self.hash("note").items()}
        assert notes == {_member(url): url.note for url in left if url.note}
        assert self.hash("request") == {_member(u): u.link.request for u in left if u.link.request}
        spelled = [url for url in left if url.link.spelling != url.link.url]
        assert self.hash("spelling") == {_member(url): url.link.spelling for url in spelled}

    def quarantined(self, model: Model) -> None:
        assert self.hash("quarantined").keys() == {url.link.url for url in model.in_state("quarantined")}

    def standing(self, model: Model) -> None:
        """A server with a queue stands in one place, the right one, in the right order; others in none."""
        places = {name: self.zset(name) for name in ("ready", "doubtful", "wait")}
        assert sorted(name for place in places.values() for name in place) == self.members("queue")
        ready = {**places["ready"], **places["doubtful"]}
        by_rank = sorted(ready, key=lambda name: (ready[name], name in places["doubtful"], name))
        assert by_rank == sorted(ready, key=lambda name: model.rank(model.server(name)))
        for server in map(model.server, self.members("queue")):
            if server.next > model.now or server.name in places["wait"]:
                assert self.is_time(places["wait"][server.name], server.next, model)
            else:
                assert (server.name in places["ready"]) == bool(server.in_time)

    def budgets(self, model: Model) -> None:
        urls_of = Counter(url.server.name for url in model.urls.values())
        domains, servers = Counter[str](), Counter[str]()
        for name, number in urls_of.items():
            domains[registrable_domain(name)] += number
            servers[registrable_domain(name)] += 1
        assert self.hash("taken") == {name: str(number) for name, number in urls_of.items()}
        assert self.hash("domains") == {name: str(number) for name, number in domains.items()}
        assert self.hash("others") == {name: str(n - 1) for name, n in servers.items() if n > 1}
        assert int(self.hash("counts").get("servers", 0)) == len(urls_of)
        turns = {server.name: str(server.turn) for server in model.servers.values() if server.turn}
        assert self.hash("turns") == turns
        assert self.hash("repeats") == {name: str(number) for name, number in model.repeats.items()}

    def politeness(self, model: Model, server: Server) -> None:
        known = self.hash("server", server.name)
        assert known.pop("waiting", "index") == "index"
        known = {name: float(value) for name, value in known.items()}
        downloads = [u for u in model.urls.values() if u.server is server and u.downloading]
        assert self.is_time(known.get("next", 0.0), server.next, model)
        assert known.get("active", 0) == server.active == len(downloads)
        assert known.get("backoff", 0) == server.backoff
        assert known.get("delay", 0) == server.crawl_delay * 1000
        assert known.get("pace") == (None if server.in_time is None else server.in_time)
        assert ("blocked" in known) == server.blocked

    def site(self, model: Model, server: Server) -> None:
        site = self.hash("site", server.name)
        own = [url for url in model.urls.values() if url.server is server]
        out = [u for u in own if u.state == "leased" or (u.state == "queued" and u.retry)]
        assert int(site.get("out", 0)) == len(out)
        assert ("newcomer" in site, "trying" in site) == (bool(server.newcomer), server.trying)


def _member(url: Url) -> str:
    return f"{url.server.name} {split(url.link.url)[1]}"
