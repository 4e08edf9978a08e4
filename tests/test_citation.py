"""CITATION.cff is valid, and cites the version that this is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

from webcrawler import __version__

CITATION = Path(__file__).parents[1] / "CITATION.cff"


def test_it_is_valid_by_the_schema_of_its_format() -> None:
    checker = Path(sys.executable).parent / "check-jsonschema"
    command = [checker, "--builtin-schema", "vendor.citation-file-format", CITATION]
    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def test_it_cites_this_version() -> None:
    assert YAML(typ="safe").load(CITATION)["version"] == __version__
