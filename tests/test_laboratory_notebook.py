"""The notebook of the documentation runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from localweb import PROJECT
from nbclient import NotebookClient


@pytest.mark.deep("test_freshness_laboratory.py computes the same")
def test_the_notebook_runs_to_its_end_and_says_what_it_is_about(tmp_path: Path) -> None:
    notebook = nbformat.read(PROJECT / "docs/how-to/laboratory.ipynb", as_version=4)

    NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()

    shown = {cell.id: "".join(map(str, cell.get("outputs", ()))) for cell in notebook.cells}
    assert "area under P_ST" in shown["run"]
    assert "image/png" in shown["plot"]
    assert "mine.ShortestFirst" in shown["mine"]
    assert "1883" in shown["publish-figures"]
    assert (tmp_path / "figures.json").exists()
