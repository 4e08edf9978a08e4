"""What can happen to a crawl beside being killed: one function a fault; each returns when it is over."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ordeal import Fault, Ordeal

DRAIN_SECONDS = 10.0
HOLD_SECONDS = (0.5, 3.0)  # how long a fault lasts
LATENCY_SECONDS = 2.0
STORES = ("pages", "catalog", "index", "redis")
TMPFS_MIB = 24

Affliction = Callable[[Ordeal], None]


@contextmanager
def _lasting(ordeal: Ordeal, kind: str, seconds: float = 0.0) -> Iterator[None]:
    """A fault that begins within and is over behind; work is to go on from there."""
    fault = ordeal.note(Fault(kind))
    yield
    time.sleep(seconds or ordeal.chance.uniform(*HOLD_SECONDS))
    fault.decided = ordeal.decided()


def _over(ordeal: Ordeal) -> None:
    fault = ordeal.faults[-1]
    fault.decided, fault.began = ordeal.decided(), time.monotonic()


# ---- Redis


def redis_killed(ordeal: Ordeal) -> None:
    ordeal.kill_redis()


def redis_restarted(ordeal: Ordeal) -> None:
    assert ordeal.server
    with _lasting(ordeal, "Redis restarted"):
        ordeal.server.stop()
    ordeal.server.start()
    _over(ordeal)


def redis_out_of_memory(ordeal: Ordeal) -> None:
    """At once, or after some more writes."""
    assert ordeal.server
    client = ordeal.server.client
    room = ordeal.chance.choice((0, 20_000, 100_000))
    with _lasting(ordeal, "Redis: OOM"):
        client.config_set("maxmemory", client.info("memory")["used_memory"] + room)
    client.config_set("maxmemory", 0)
    _over(ordeal)


def redis_read_only(ordeal: Ordeal) -> None:
    """A replica, as after a failover."""
    assert ordeal.server
    with _lasting(ordeal, "Redis: READONLY"):
        ordeal.server.client.replicaof("127.0.0.1", "1")
    ordeal.server.client.replicaof("NO", "ONE")
    _over(ordeal)


def redis_loading(ordeal: Ordeal) -> None:
    _says(ordeal, "LOADING", "Redis is loading the dataset in memory")


def redis_misconfigured(ordeal: Ordeal) -> None:
    _says(ordeal, "MISCONF", "Errors writing to the AOF file: No space left on device")


def _says(ordeal: Ordeal, error: str, words: str) -> None:
    assert ordeal.toxics
    with _lasting(ordeal, f"Redis: {error}"):
        ordeal.toxics.says = f"-{error} {words}\r\n".encode()
    ordeal.toxics.heal()
    _over(ordeal)


def line_slow(ordeal: Ordeal) -> None:
    assert ordeal.toxics
    with _lasting(ordeal, "2 s latency", 3 * LATENCY_SECONDS):
        ordeal.toxics.latency_seconds = LATENCY_SECONDS
    ordeal.toxics.heal()
    _over(ordeal)


def line_half_open(ordeal: Ordeal) -> None:
    assert ordeal.toxics
    with _lasting(ordeal, "half-open line"):
        ordeal.toxics.fall_silent()
    ordeal.toxics.heal()
    _over(ordeal)


def line_cut(ordeal: Ordeal) -> None:
    assert ordeal.toxics
    ordeal.note(Fault("line cut"))
    ordeal.toxics.cut()


# ---- signals


def sigterm(ordeal: Ordeal) -> None:
    _ended_by(ordeal, "SIGTERM", signal.SIGTERM)


def sigterm_twice(ordeal: Ordeal) -> None:
    _ended_by(ordeal, "SIGTERM twice", signal.SIGTERM, signal.SIGTERM)


def ctrl_c_twice(ordeal: Ordeal) -> None:
    _ended_by(ordeal, "Ctrl-C twice", signal.SIGINT, signal.SIGINT)


def _ended_by(ordeal: Ordeal, kind: str, *signals: signal.Signals) -> None:
    """A worker ends within ten seconds and gives back what it holds; another takes its place."""
    worker = ordeal.workers[0]
    ordeal.wait(lambda: len(ordeal.lively()) == len(ordeal.workers))
    fault = ordeal.note(Fault(kind))
    for number in signals:
        with suppress(ProcessLookupError):
            worker.send_signal(number)
        time.sleep(ordeal.chance.uniform(0.05, 0.5) if len(signals) > 1 else 0.0)
    began = time.monotonic()
    try:
        worker.wait(DRAIN_SECONDS)
    except subprocess.TimeoutExpired:
        ordeal.problems.append(f"{kind}: not ended within {DRAIN_SECONDS:.0f} s")
        worker.kill()
        worker.wait()
    fault.drained = time.monotonic() - began
    states = ordeal.states()
    if states and states["leased"] and len(ordeal.workers) == 1:
        ordeal.problems.append(f"{kind}: {states['leased']} leases are still out")
    ordeal.start()
    ordeal.wait(lambda: len(ordeal.lively()) == len(ordeal.workers))
    _over(ordeal)


def worker_stopped(ordeal: Ordeal) -> None:
    """SIGSTOP until its leases are another's, then SIGCONT: what it holds is no longer its own."""
    worker = ordeal.workers[0]
    ordeal.wait(lambda: len(ordeal.lively()) == len(ordeal.workers))
    fault = ordeal.note(Fault("SIGSTOP past the lease"))
    with suppress(ProcessLookupError):
        worker.send_signal(signal.SIGSTOP)
        standing = ordeal.states() or {"leased": 0}  # what it has leased since it was noted, it holds now
        fault.in_flight = max(fault.in_flight, standing["leased"])
        ordeal.wait(lambda: len(ordeal.lively()) < len(ordeal.workers), 20.0, "for its leases to be taken")
        time.sleep(ordeal.chance.uniform(0.0, 2.0))
        worker.send_signal(signal.SIGCONT)
    _over(ordeal)


# ---- disks


def can_mount(folder: Path) -> bool:
    """Whether a small file system can be mounted here: for root on Linux."""
    folder.mkdir(parents=True, exist_ok=True)
    if not _mount(folder):
        return False
    _unmount(folder)
    return True


@contextmanager
def small_disk(crawl_dir: Path, store: str) -> Iterator[Path]:
    """A file system of a few MiB that holds this store of a data folder, and no other."""
    disk = crawl_dir.with_name(f"{crawl_dir.name}-disk")
    disk.mkdir(parents=True)
    if not _mount(disk):
        raise OSError(f"cannot mount a file system at {disk}")
    try:
        elsewhere = crawl_dir.with_name(f"{crawl_dir.name}-elsewhere")
        if store == "catalog":
            crawl_dir.symlink_to(disk)
        else:
            crawl_dir.mkdir()
        for other in ("pages", "index", "redis"):
            home = disk if other == store else elsewhere
            if home is elsewhere or store != "catalog":
                (home / other).mkdir(parents=True)
                (crawl_dir / other).symlink_to(home / other)
        yield disk
    finally:
        _unmount(disk)


def disk_full(store: str, disk: Path) -> Affliction:
    """Of this store; then there is room again."""

    def fill(ordeal: Ordeal) -> None:
        ballast = disk / "ballast"
        with _lasting(ordeal, f"disk full: {store}"), suppress(OSError), ballast.open("wb", 0) as file:
            while True:
                file.write(bytes(4096))
        ballast.unlink()
        _over(ordeal)

    return fill


def _mount(folder: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_MIB}m", "none", str(folder)]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


OVER_TCP: tuple[Affliction, ...] = (
    redis_killed,
    redis_restarted,
    redis_out_of_memory,
    redis_read_only,
    redis_loading,
    redis_misconfigured,
    line_slow,
    line_half_open,
    line_cut,
    sigterm,
    sigterm_twice,
    ctrl_c_twice,
    worker_stopped,
)
