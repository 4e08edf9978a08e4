"""A wheel of what git tracks and environments with it, made once for all tests of what is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from localweb import PROJECT

Installed = Callable[[str], Path]


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With what an older build has left in it."""
    folder = copy_what_git_tracks(tmp_path_factory.mktemp("clone"))
    (folder / "build/lib/webcrawler").mkdir(parents=True)
    (folder / "build/lib/webcrawler/stale.py").write_text("of a module that was renamed since")
    return folder


@pytest.fixture(scope="session")
def wheel(clone: Path) -> Path:
    return build_wheel(clone)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The programs of an environment that has one extra ("": none), which is made at the first call."""
    made: dict[str, Path] = {}

    def programs(extra: str) -> Path:
        if extra not in made:
            folder = tmp_path_factory.mktemp("environment") / "with"
            if not extra:
                made[""] = make_environment(folder, str(wheel))
            else:  # all others bring [search]
                base = programs("" if extra == "search" else "search")
                made[extra] = install(like(base, folder), f"{wheel}[{extra}]")
        return made[extra]

    return programs


def copy_what_git_tracks(folder: Path) -> Path:
    """The folder, now like a clean clone: a build leaves files beside it."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=PROJECT, text=True)
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, folder / name)
    return folder


def build_wheel(clone: Path) -> Path:
    """By `make dist`, which takes what is staged in the clone."""
    subprocess.run(["git", "init", "--quiet"], cwd=clone, check=True)
    subprocess.run(["git", "add", "--all"], cwd=clone, check=True)
    made = ["make", "-o", "dev", "dist", f"BIN={Path(sys.executable).parent}"]
    subprocess.run(made, cwd=clone, check=True, capture_output=True)
    [wheel] = (clone / "dist").glob("scrapy_webcrawler-*.whl")
    return wheel


def make_environment(folder: Path, *requirements: str) -> Path:
    """The folder of its programs. Without pip, and without compiling what is hardly used."""
    venv.create(folder)
    return install(folder / "bin", *requirements)


def install(programs: Path, *requirements: str) -> Path:
    """Into the environment whose programs these are."""
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", programs / "python"]
    subprocess.run([*uv, *requirements], cwd=programs.parent, check=True)
    return programs


def like(programs: Path, folder: Path) -> Path:
    """The programs of another environment with the same packages, in a second."""
    shutil.copytree(programs.parent, folder, symlinks=True, copy_function=_link)
    for script in (folder / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and (text := script.read_bytes()).startswith(b"#!"):
            script.unlink()
            script.write_bytes(text.replace(bytes(programs), bytes(folder / "bin"), 1))
            script.chmod(0o755)
    return folder / "bin"


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)
