"""Environments in which nothing is installed but what is named."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path


def make_environment(folder: Path, *requirements: str) -> Path:
    """The folder of its programs. Without pip, and without compiling what is hardly used: half the time."""
    venv.create(folder)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", *requirements], cwd=folder, check=True)
    return folder / "bin"
