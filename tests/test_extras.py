"""What the project has extras for is only imported where it is asked for."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1]
IMPORTED_AS = {"scikit-learn": "sklearn", "ir-measures": "ir_measures", "markdown-it-py": "markdown_it"}
COMMANDS = """
import pkgutil, sys
from importlib import import_module

sys.modules |= dict.fromkeys(sys.argv[1:])  # they cannot be imported
import pipelines, spiders, webcrawler.addon, webcrawler.commands, webcrawler.scheduler, webcrawler.web

for package in (pipelines, spiders, webcrawler.commands):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)
"""


def test_commands_and_spiders_are_imported_without_any_extra() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [
        given.partition(">")[0] for extra in project["optional-dependencies"].values() for given in extra
    ]
    names = [IMPORTED_AS.get(extra, extra) for extra in extras]

    done = subprocess.run([sys.executable, "-c", COMMANDS, *names], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
