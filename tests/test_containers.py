"""Dockerfile and compose.yaml say what their readers expect of such files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        ("hadolint", "--failure-threshold", "info", "Dockerfile"),
        ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"),
    ],
    ids=lambda command: command[0],
)
def test_the_file_passes_its_checker(command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_but_what_is_installed_goes_into_the_image() -> None:
    """A data folder beside the sources, or a .git with secrets, must not."""
    first, *named = (ROOT / ".dockerignore").read_text().split()

    assert first == "*"
    assert all(name.startswith("!") or name == "**/__pycache__" for name in named)
