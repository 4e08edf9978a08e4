"""What the documentation says of the papers is what these tests look at, and they quote the papers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from testdata import paper

PROJECT = Path(__file__).parents[2]
USER = "The user"
OF_THE_USER = {1, 2, 3, 4, 5}
PAPERS = {
    "WC": "pinkerton-1994-webcrawler.txt",
    "UO": "cho-1998-url-ordering.txt",
    "GO": "brin-page-1998-anatomy.txt",
    "EW": "mengozzi-efficient-webcrawler.txt",
    "SV": "survey-web-crawler-types.txt",
}
TESTS = {
    int(one.name[5:7]): ast.get_docstring(one) or ""
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    for one in ast.parse(path.read_text("utf-8")).body
    if isinstance(one, ast.FunctionDef) and re.match(r"test_\d\d_", one.name)
}


def quotations(text: str) -> list[tuple[str, str]]:
    """(source, sentence) of each sentence between quotation marks, whose source is the last one named."""
    found, source = [], ""
    for named, sentence in re.findall(rf'\b({"|".join(PAPERS)}|{USER})\b|"([^"]+)"', text):
        source = named or source
        if sentence:
            found.append((source, sentence))
    return found


def plain(text: str) -> str:
    """Without quotation marks and apostrophes, on one line."""
    text = re.sub(r"[\"'`‘’“”\\$]", "", text)  # the quoted formulas are without TeX's marks, too
    return re.sub(r"- (?=\S)", "-", re.sub(r"\s+", " ", text))  # where a line of a PDF ends


def test_each_row_of_the_mission_has_one_test_and_one_row_in_the_documentation() -> None:
    page = (PROJECT / "docs/explanation/papers.md").read_text("utf-8")
    rows = [int(number) for number in re.findall(r"(?m)^\| (\d+) \|", page)]
    sources = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    tests = [int(number) for text in sources for number in re.findall(r"(?m)^def test_(\d\d)_", text)]

    assert sorted(tests) == list(range(1, 47))
    assert sorted(rows) == sorted(set(tests) - OF_THE_USER)


@pytest.mark.parametrize("row", TESTS)
def test_each_test_names_its_source_first_and_quotes_a_sentence_of_it(row: int) -> None:
    quoted = quotations(TESTS[row])

    assert max((len(sentence.split()) for _, sentence in quoted), default=0) > 1
    assert TESTS[row].startswith(quoted[0][0])
    assert quoted[0][0] in PAPERS or row in OF_THE_USER


@pytest.mark.parametrize("row", TESTS)
def test_what_is_quoted_is_in_the_paper(row: int) -> None:
    for source, sentence in quotations(TESTS[row]):
        if source != USER:
            assert plain(sentence) in plain(paper(PAPERS[source]).read_text("utf-8"))
