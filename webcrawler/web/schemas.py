"""What JSON Schema says of the values in our answers."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
Keys = dict[str, tuple[Schema, str]]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
TABLE: Schema = {"type": ["object", "null"]}
YES: Schema = {"type": "boolean"}
SWITCH: Schema = {"type": "string", "enum": ["0", "1"]}


def whole(least: int = 0, most: int | None = None, default: int | None = None) -> Schema:
    bounds = {"minimum": least, "maximum": most, "default": default}
    return {"type": "integer"} | {name: bound for name, bound in bounds.items() if bound is not None}


def many(of: Schema, most: int | None = None) -> Schema:
    return {"type": "array", "items": of} | ({"maxItems": most} if most else {})


def known(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
