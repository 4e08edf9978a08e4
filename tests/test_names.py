"""One name in each environment: `spiders` in a checkout, `webcrawler.spiders` where it is installed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
FOLDERS = ("webcrawler", "spiders", "pipelines")
SOURCES = [path for folder in FOLDERS for path in sorted((PROJECT / folder).rglob("*.py"))]
NAMES = ("spiders", "pipelines", "webcrawler.spiders", "webcrawler.pipelines")

# What a crawl imports by name, and the modules that came with it.
LOADED = """
import sys
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.misc import load_object
from scrapy.utils.project import get_project_settings
settings = get_project_settings()
spider = get_spider_loader(settings).load("realtime")
for path in spider.custom_settings["ITEM_PIPELINES"]:
    load_object(path)
print(*sorted(name for name in sys.modules if name.rpartition(".")[0] in %r))
""" % (NAMES,)  # noqa: UP031


def loaded(folder: Path) -> set[str]:
    """The spiders and pipelines that a process in that folder has imported."""
    env = {"SCRAPY_SETTINGS_MODULE": "webcrawler.settings"}
    return set(
        subprocess.check_output([sys.executable, "-c", LOADED], cwd=folder, env=env, text=True).split()
    )


@pytest.mark.slow
def test_a_checkout_has_them_beside_the_package() -> None:
    assert loaded(PROJECT) == {
        *("spiders.index", "spiders.realtime"),
        *(f"pipelines.{name}" for name in ("duplicates", "fulltext", "linkgraph", "pages")),
    }


@pytest.mark.slow
def test_from_another_folder_they_are_in_the_package(tmp_path: Path) -> None:
    """Also where that folder has some of its own."""
    for name in ("spiders", "pipelines"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()

    assert loaded(tmp_path) == {f"webcrawler.{name}" for name in loaded(PROJECT)}


def imported(path: Path) -> set[str]:
    """The modules and names that a file imports by their whole names."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_none_is_imported_by_name() -> None:
    """It would be a second module beside the one that the settings name, and its classes others."""
    assert len(SOURCES) > 100
    assert [(path, name) for path in SOURCES for name in imported(path) if name.startswith(NAMES)] == []
