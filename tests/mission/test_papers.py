"""What the documentation says of the papers is what these tests look at, and they quote the papers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from testdata import paper

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/explanation/papers.md").read_text("utf-8")
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
    rows = [int(number) for number in re.findall(r"(?m)^\| (\d+) \|", PAGE)]
    sources = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    tests = [int(number) for text in sources for number in re.findall(r"(?m)^def test_(\d\d)_", text)]

    assert sorted(tests) == list(range(1, 47))
    assert sorted(rows) == sorted(set(tests) - OF_THE_USER)


def test_each_row_without_a_number_names_its_tests() -> None:
    rows = re.findall(r"(?m)^\| (.*?) ?\|.* \| [●◐–] \|", PAGE)
    unnumbered = [re.findall(r"`(test_\w+\.py)`", cell) for cell in rows if not cell.isdecimal()]

    assert len(unnumbered) == 5
    assert all(names for names in unnumbered)
    assert all((PROJECT / "tests" / name).is_file() for names in unnumbered for name in names)


def test_each_quotation_of_the_readme_is_in_the_list_of_the_papers_words() -> None:
    """The papers themselves are not in the project."""
    readme = (
        (PROJECT / "README.md").read_text("utf-8").partition("## What it does\n")[2].partition("\n## ")[0]
    )
    quoted = re.findall(r'"([^"]+)"', re.sub(r"`[^`]*`", "", readme))
    known = re.findall(r'(?m)^\| .* \| "(.+)" \|$', PAGE.partition("## In the papers' words")[2])

    spoken = [" ".join(words.split()) for words in quoted]
    assert {words[0].lower() + words[1:] for words in spoken} == {
        words[0].lower() + words[1:] for words in known
    }


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
