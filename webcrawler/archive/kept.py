"""What an ordering has learnt, as bytes, and back: msgpack, and no class that is not named here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgpack

from webcrawler.orderings import Ordering
from webcrawler.records import Link

_ARRAY, _SET, _TUPLE, _COUNTER, _RECORD = range(1, 6)  # types of msgpack extensions


def pack(value: Any) -> bytes:
    """Plain values, arrays, links, and the records and parts of an ordering (`Ordering.kept`), as msgpack.

    Raises:
        TypeError: there is a value of another kind.
    """
    packed = msgpack.packb(value, default=_extended, strict_types=True)
    assert isinstance(packed, bytes)
    return packed


def unpack(packed: bytes, records: Mapping[str, type]) -> Any:
    """What `pack` packed; parts come as lists, for `restore`.

    Args:
        records: the records that may occur, by name.
    Raises:
        ValueError, KeyError: it is damaged, or has other records.
    """

    def read(code: int, data: bytes) -> Any:
        found = msgpack.unpackb(data, ext_hook=read, strict_map_key=False)
        if code == _ARRAY:
            import numpy as np

            kind, shape, values = found
            return np.frombuffer(values, np.dtype(kind)).reshape(shape).copy()
        if code == _RECORD:
            return {"Link": Link, **records}[found[0]](*found[1:])
        if code == _COUNTER:
            return Counter(dict(found))
        return {_SET: set, _TUPLE: tuple}[code](found)

    return msgpack.unpackb(packed, ext_hook=read, strict_map_key=False)


def restore(part: Any, values: list[Any]) -> None:
    """Gives an ordering, or a part of one, what it had learnt."""
    for name, value in zip(part.kept, values, strict=True):
        now = getattr(part, name)
        if hasattr(now, "kept"):
            restore(now, value)
        elif isinstance(now, dict):  # which may be of another kind, and is known to others
            now.clear()
            now.update(value)
        else:
            setattr(part, name, value)


def records_of(ordering: Ordering) -> dict[str, type]:
    return {kind.__name__: kind for kind in ordering.records}


def _extended(value: Any) -> Any:
    if hasattr(value, "kept"):
        return [getattr(value, name) for name in value.kept]
    if isinstance(value, Counter):
        return msgpack.ExtType(_COUNTER, pack([[key, number] for key, number in value.items()]))
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, set | frozenset):
        return msgpack.ExtType(_SET, pack(list(value)))
    if is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
        return msgpack.ExtType(_RECORD, pack([type(value).__name__, *parts]))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return msgpack.ExtType(_RECORD, pack([type(value).__name__, *value]))
    if isinstance(value, tuple):
        return msgpack.ExtType(_TUPLE, pack(list(value)))
    if hasattr(value, "dtype"):  # of numpy, which not every crawl imports
        if value.ndim:
            return msgpack.ExtType(_ARRAY, pack([value.dtype.str, list(value.shape), value.tobytes()]))
        return value.item()
    raise TypeError(f"a value of {type(value).__name__} cannot be kept")
