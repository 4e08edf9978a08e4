"""The rooms of the house: who may import whom, and what people import from outside."""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
ROOTS = ("webcrawler", "spiders", "pipelines")
FILES = {
    ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"): path
    for root in ROOTS
    for path in (PROJECT / root).rglob("*.py")
}
PACKAGES = {module for module, path in FILES.items() if path.name == "__init__.py"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(PROJECT / "pyproject.toml", folder)
    for root in ROOTS:
        shutil.copytree(PROJECT / root, folder / root, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize(
    ("file", "planted", "contract"),
    [
        ("webcrawler/urls/_groups.py", "import webcrawler.background", "rooms import downward"),  # beside
        ("webcrawler/urls/_groups.py", "import webcrawler.text", "rooms import downward"),  # above
        ("webcrawler/crawl/run/crawl.py", "import spiders.index", "spiders and pipelines stand between"),
        ("webcrawler/search/display.py", "import scrapy", "Scrapy is known to its side only"),
        ("webcrawler/orderings/words.py", "import redis", "Redis is known to the frontier"),
        ("webcrawler/search/display.py", "import whoosh", "Whoosh is known to the index only"),
    ],
)
def test_import_that_a_contract_forbids_is_refused(
    copy: Path, file: str, planted: str, contract: str
) -> None:
    before = (copy / file).read_text("utf-8")
    (copy / file).write_text(before.replace("import annotations\n", f"import annotations\n{planted}\n", 1))

    done = _lint(copy)

    (copy / file).write_text(before)
    broken = [line for line in done.stdout.splitlines() if line.endswith(" BROKEN")]
    assert done.returncode == 1
    assert [line for line in broken if line.startswith(contract)]


def test_room_that_no_contract_names_is_refused(copy: Path) -> None:
    (copy / "webcrawler" / "attic.py").touch()

    done = _lint(copy)

    (copy / "webcrawler" / "attic.py").unlink()
    assert done.returncode == 1
    assert "attic" in done.stdout


@pytest.mark.slow
def test_rooms_are_entered_by_their_face() -> None:
    """A package's modules are imported by itself and by packages inside it; others import the package."""
    past = [
        f"{module} imports {target}"
        for module in FILES
        for target in _imported(module)
        if target in FILES and target not in PACKAGES and not _is_at_home(module, target)
    ]

    assert past == []


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("webcrawler.addon", ["WebCrawlerAddon"]),
        ("webcrawler.connection", ["connect"]),
        ("webcrawler.demo.__main__", ["main"]),
        ("webcrawler.errors", ["BadInput", "BadUrl", "Unavailable", "WebcrawlerError"]),
        ("webcrawler.frontier", ["Budgets", "Done", "Failed", "Frontier", "Known", "Ordering", "Politeness"]),
        ("webcrawler.frontier", ["Report", "Seen", "Source", "ordering"]),
        ("webcrawler.records", ["Link"]),
        ("webcrawler.scheduler", ["Scheduler"]),
        ("webcrawler.search", ["Searcher"]),
        ("webcrawler.settings", ["SETTINGS"]),
    ],
)
def test_what_people_import_stays_where_it_is(module: str, names: list[str]) -> None:
    assert [name for name in names if not hasattr(importlib.import_module(module), name)] == []


def test_architecture_page_has_the_rooms_of_the_contract_row_by_row() -> None:
    tool = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]
    (rooms,) = (one for one in tool["importlinter"]["contracts"] if one.get("exhaustive"))
    page = (PROJECT / "docs" / "explanation" / "architecture.md").read_text("utf-8")

    rows = re.findall(r"(?m)^\| (\d+) \| `(\w+)(?:/|\.py)` \| .+ \|$", page)

    named = [(number, name) for number, layer in enumerate(rooms["layers"], 1) for name in layer.split(" | ")]
    assert [(int(number), name) for number, name in rows] == named


def test_entry_points_stay() -> None:
    text = (PROJECT / "pyproject.toml").read_text("utf-8")

    assert '[project.scripts]\nwebcrawler = "webcrawler.commands._program:main"' in text
    frontier = 'frontier = "webcrawler.commands._published:Frontier"'
    assert f'[project.entry-points."scrapy.commands"]\n{frontier}' in text
    assert '[project.entry-points.scrapy]\nsettings = "webcrawler.settings"' in text
    code = (PROJECT / "webcrawler" / "orderings" / "registry.py").read_text("utf-8")
    assert 'group="webcrawler.orderings"' in code


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def _imported(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(FILES[module].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _is_at_home(module: str, target: str) -> bool:
    package = target.rpartition(".")[0]
    outside = package in ROOTS  # `spiders` and `pipelines` are entered by Scrapy, module by module
    return outside or module == package or module.startswith(f"{package}.")


def test_the_frontier_is_imported_without_numpy_and_databases() -> None:
    """Modes that need arrays are imported when they are asked for."""
    code = "import sys, webcrawler.frontier; print(*{'numpy', 'scipy', 'sqlite3', 'whoosh'} & {*sys.modules})"

    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "\n"
