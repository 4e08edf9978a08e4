"""Dockerfile and the files of Compose say what their readers expect of such files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from localweb import page, sites
from ruamel.yaml import YAML
from test_program import webcrawler

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        ("hadolint", "--failure-threshold", "info", "Dockerfile"),
        ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"),
        ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker/fleet.yaml"),
    ],
    ids=lambda command: command[-1],
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


def crawl_as_composed(seeds: str, folder: Path) -> None:
    """Run the crawler's command of compose.yaml, with the setting that Compose would put into it."""
    written = YAML(typ="safe").load(ROOT / "compose.yaml")["services"]["crawler"]["command"]
    command = [argument.replace("${SEEDS:-}", seeds) for argument in written]
    limits = ("-a", "max_pages=5", "-s", "FRONTIER_DELAY=0", "-s", "ADDRESSES_ALLOWED=127.0.0.1/32")
    crawled = webcrawler(*command, *limits, folder=folder)
    assert crawled.returncode == 0, crawled.stderr


@pytest.mark.slow
def test_without_seeds_compose_crawls_the_demo_web(tmp_path: Path) -> None:
    crawl_as_composed("", tmp_path)

    assert "Molecular Biology" in webcrawler("report", folder=tmp_path).stdout
    assert (tmp_path / "crawl/demo.json").exists()


@pytest.mark.slow
def test_with_several_seeds_compose_crawls_all_of_them(tmp_path: Path) -> None:
    with sites(first={"/": page()}, second={"/": page()}) as web:
        crawl_as_composed(",".join(f"{site.url}/" for site in web.values()), tmp_path)

        assert all("/" in site.asked for site in web.values())
