"""How much code there is, how its rooms depend on each other, and how many modules a task needs.

    python bench/count_code.py [PROJECT] [--rooms] [--arrows] [--json FILE]

A code line holds code: no blank line, no comment, no docstring. A room is a top-level module or package of
`webcrawler`, or `spiders` or `pipelines`. An arrow leads from a room to another that it imports. A circle is
a set of modules that need each other; a name that a package passes on leads to the module that defines it.
The modules of a task are all that Python imports for it, at the top of a module or inside of its functions.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import networkx as nx

ROOTS = ("webcrawler", "spiders", "pipelines")
TASKS = {
    "to follow one URL": {"spiders.index", "pipelines.", "webcrawler.scheduler"},
    "for a search": {"webcrawler.search"},
    "for a real-time search": {"spiders.realtime"},
}
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class Import(NamedTuple):
    module: str
    name: str  # "" for the module itself


class Module(NamedTuple):
    is_package: bool
    lines: int
    imports: list[Import]
    passed_on: dict[str, Import]  # what the names that it imports mean


def read(project: Path) -> dict[str, Module]:
    modules = {}
    for root in ROOTS:
        for path in sorted((project / root).rglob("*.py")):
            parts = path.relative_to(project).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            text = path.read_text("utf-8")
            tree = ast.parse(text)
            imports = list(_imports(tree, name, is_package))
            modules[name] = Module(
                is_package,
                code_lines(text, tree),
                [one for one, _ in imports],
                {as_: one for one, as_ in imports},
            )
    return modules


def code_lines(text: str, tree: ast.Module) -> int:
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        with_docstring = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if with_docstring and ast.get_docstring(node, clean=False) is not None:
            code.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(code)


def _imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[Import, str]]:
    """Each import with the name that it gets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, ""), alias.asname or alias.name
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".") if node.level else []
            base = base[: len(base) - node.level + is_package]
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(source, alias.name), alias.asname or alias.name


def room(module: str) -> str:
    root, *rest = module.split(".")
    return ".".join([root, *rest[:1]]) if root == "webcrawler" else root


def _origin(one: Import, modules: Mapping[str, Module]) -> str:
    """The module that defines what is imported: packages pass on names of their modules."""
    while True:
        inside = f"{one.module}.{one.name}"
        if inside in modules:
            return inside
        source = modules[one.module]
        following = source.passed_on.get(one.name)
        if not source.is_package or following is None or following == one or following.module not in modules:
            return one.module
        one = following


def graphs(modules: Mapping[str, Module]) -> tuple[nx.DiGraph, nx.DiGraph, nx.DiGraph]:
    """What Python imports, module by module; whose names a module uses; which rooms a room imports."""
    loaded, used, rooms = nx.DiGraph(), nx.DiGraph(), nx.DiGraph()
    loaded.add_nodes_from(modules)
    used.add_nodes_from(modules)
    rooms.add_nodes_from(map(room, modules))
    for name, module in modules.items():
        for one in module.imports:
            inside = f"{one.module}.{one.name}"
            target = inside if inside in modules else one.module
            if target not in modules:
                continue
            parts = target.split(".")
            loaded.add_edges_from((name, ".".join(parts[:end])) for end in range(1, len(parts) + 1))
            used.add_edge(name, _origin(one, modules))
            if room(target) != room(name):
                rooms.add_edge(room(name), room(target))
    return loaded, used, rooms


def circles(graph: nx.DiGraph) -> list[set[str]]:
    return [part for part in nx.strongly_connected_components(graph) if len(part) > 1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("project", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--rooms", action="store_true", help="files and lines of each room")
    parser.add_argument("--arrows", action="store_true", help="what each room imports")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    modules = read(given.project)
    loaded, used, rooms = graphs(modules)
    figures = {
        "code lines": sum(module.lines for module in modules.values()),
        "files": len(modules),
        "rooms": len(rooms),
        "arrows between rooms": rooms.number_of_edges(),
        "circles of rooms": len(circles(rooms)),
        "circles of modules": len(circles(used)),
    }
    for task, starts in TASKS.items():
        known = {one for one in modules if one in starts or f"{one.partition('.')[0]}." in starts}
        figures[f"modules {task}"] = len(known.union(*(nx.descendants(loaded, one) for one in known)))
    for title, figure in figures.items():
        print(f"{title:32}{figure:8,}")
    for circle in (*circles(rooms), *circles(used)):
        print("a circle:", *sorted(circle))
    if given.rooms:
        files = Counter(map(room, modules))
        lines: Counter[str] = Counter()
        for name, module in modules.items():
            lines[room(name)] += module.lines
        for name in sorted(files):
            print(f"{name:32}{files[name]:8}{lines[name]:8,}")
    if given.arrows:
        for name in sorted(rooms):
            print(f"{name:32}", *sorted(rooms[name]))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
