"""The documentation says all there is: each setting, command, argument, dependency, reason, key and table."""

from __future__ import annotations

import ast
import dataclasses
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from inprocess import command

from webcrawler import evaluation
from webcrawler.commands.crawl import taken
from webcrawler.job import Job
from webcrawler.orderings import MODES, arguments_of, ordering_type, strategies
from webcrawler.realtime.job import OF_A_CRAWL, OWN, RealtimeJob
from webcrawler.realtime.journal import Found, Journal, Via
from webcrawler.settings import SETTINGS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
STRATEGIES = [mode.name for mode in strategies()]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
COMMANDS = [path for path in (ROOT / "webcrawler/commands").glob("[!_]*.py") if path.stem != "base"]
SOURCES = [path for room in ("webcrawler", "spiders", "pipelines") for path in (ROOT / room).rglob("*.py")]


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of any level; "" where there is none."""
    found = re.search(rf"(?ms)^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text)
    return found[1] if found else ""


def cells(text: str) -> set[str]:
    """What is set in code at the start of table rows."""
    return set(re.findall(r"(?m)^\| `([^`]+)`", text))


# ---- settings, commands, arguments


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_has_a_heading_and_its_default(name: str) -> None:
    default = str(SETTINGS[name].default)

    text = section(page("reference/settings.md"), name)

    assert text.startswith(f"Default `{default}` · " if default else "Default empty · ")


def test_no_heading_is_about_a_setting_that_is_gone() -> None:
    assert set(re.findall(r"(?m)^### (\w+)$", page("reference/settings.md"))) == set(SETTINGS)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_each_command_has_a_heading_and_its_options(path: Path) -> None:
    text = re.split(rf"(?m)^## {path.stem}\n", page("reference/commands.md"))

    assert len(text) == 2
    described = re.split(r"(?m)^## ", text[1])[0]
    for option in re.findall(r"""add_argument\(\s*"(-[\w-]+)""", path.read_text("utf-8")):
        assert option in described


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Job)])
def test_each_spider_argument_has_a_heading(name: str) -> None:
    assert section(page("reference/commands.md"), name)


@pytest.mark.parametrize(
    ("job", "names"),
    [
        (Job, [field.name for field in dataclasses.fields(Job)]),
        (RealtimeJob, [*OWN, *OF_A_CRAWL]),
    ],
    ids=["index", "realtime"],
)
def test_the_help_of_a_crawl_has_a_line_for_each_argument(job: type[Job], names: list[str]) -> None:
    told = command("crawl", "--help", folder=Path()).out

    assert taken(job) in told
    assert sorted(re.findall(r"(?m)^    (\w+): ", taken(job))) == sorted(names)


def test_each_mode_has_a_row_and_no_other() -> None:
    assert cells(section(page("reference/commands.md"), "mode")) == set(MODES)


def test_each_argument_of_a_search_has_a_row() -> None:
    described = cells(section(page("reference/commands.md"), "Arguments of the spider `realtime`"))

    assert {*OWN, *OF_A_CRAWL, *STRATEGIES} <= described


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_has_its_own_arguments_in_its_row(strategy: str) -> None:
    text = section(page("reference/commands.md"), "Arguments of the spider `realtime`")
    [row] = re.findall(rf"(?m)^\| `{strategy}` \|.*$", text)

    own = set(arguments_of(ordering_type(strategy))) - {*OWN}
    assert own <= set(re.findall(r"`([\w-]+)`", row.rsplit("|", 2)[1]))


@pytest.mark.parametrize("key", [*Journal.__annotations__, *Found.__annotations__, *Via.__annotations__])
def test_each_key_of_a_search_is_described(key: str) -> None:
    assert f"`{key}`" in section(page("reference/commands.md"), "Arguments of the spider `realtime`")


# ---- dependencies


def test_each_dependency_has_a_row_with_its_bound_and_none_is_too_many() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    required = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    required += chain.from_iterable(project["project"]["optional-dependencies"].values())

    described = cells(page("explanation/dependencies.md"))

    bounds = {one.partition(";")[0].strip() for one in required if not one.startswith("scrapy-webcrawler[")}
    assert described == bounds


# ---- states, reasons, refusals


def reasons_in_code() -> set[str]:
    """Texts that are given to `reason` or `refused`, or returned by functions of such a name."""
    return {reason for path in SOURCES for reason in _reasons(parsed(path))} - {""}


def _reasons(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name="reason_of" | "reason_of_error" | "refusal"):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return) and inner.value:
                        yield from _words(inner.value)
            case ast.Assign(targets=[target], value=value) if re.match(
                r"\(?(reason|why)\b", ast.unparse(target)
            ):
                yield from _words(value.elts[0] if isinstance(value, ast.Tuple) else value)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name("refused"), slice=slice)]):
                yield from _words(slice)
            case ast.Call(func=ast.Name("Refused" | "UnfetchableUrl"), args=[*_, reason]):
                yield from _words(reason)
            case ast.keyword(arg="reason" | "refused", value=value):
                yield from _words(value)


def _words(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may give; what it compares is none of them."""
    match node:
        case ast.Constant(value=str(text)) if text not in ("done", "failed"):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from _words(body)
            yield from _words(orelse)
        case ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            for part in parts:
                yield from _words(part)


def test_each_state_and_each_reason_in_the_code_stands_in_the_table_of_states() -> None:
    found = reasons_in_code()

    assert {"document", "duplicate", "server-error", "robots-unreachable", "unparsable"} <= found
    assert {"extension", "malformed", "domain", "nofollow", "too-many"} <= found
    states = {"queued", "leased", "done", "failed", "quarantined"}
    assert states | found <= cells(page("reference/states.md"))


# ---- files, tables, keys


def test_each_redis_key_is_described() -> None:
    header = (ROOT / "webcrawler/frontier/lua/_1_names.lua").read_text("utf-8").split("\nlocal ")[0]
    families = set(re.findall(r"(\w+(?::[A-Z]+)?)\s+(?:hash|list|set|zset)\b", header))

    assert len(families) == 33
    assert families | {"robots:S"} <= cells(page("reference/redis.md"))


def test_each_operation_on_redis_is_described() -> None:
    lua = (ROOT / "webcrawler/frontier/lua").glob("*-2.lua")

    assert {path.name.removesuffix("-2.lua") for path in lua} <= cells(page("reference/redis.md"))


def test_each_table_of_the_catalog_is_described() -> None:
    sql = (ROOT / "webcrawler/archive/catalog/sql/schema.sql").read_text("utf-8")

    assert set(re.findall(r"CREATE TABLE (\w+)", sql)) <= cells(page("reference/files.md"))


# ---- the Python interface


def imported() -> set[str]:
    """What pages, and the notebook, import of us; and what the page of the laboratory names of it."""
    texts = [path.read_text("utf-8") for path in (*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb"))]
    found = re.findall(r"from (webcrawler[\w.]*) import ([\w, ]+)", "\n".join(texts))
    names = {f"{module}.{name}" for module, several in found for name in several.split(", ")}
    code = " ".join(re.findall(r"`[^`\n]+`", page("reference/evaluation.md")))
    classes = set(re.findall(r"\b[A-Z]\w+\b", code))
    return names | {f"webcrawler.evaluation.{name}" for name in classes & {*evaluation.__all__}}


def test_what_is_imported_stands_in_the_interface_by_the_same_name() -> None:
    described = re.findall(r"(?m)^\.\. auto\w+:: (\S+)$", page("reference/python.rst"))

    assert "webcrawler.evaluation.Metrics" in imported()
    assert imported() <= set(described)


# ---- the pages themselves


def links(path: Path) -> list[str]:
    text = re.sub(r"(?ms)^```.*?^```", "", path.read_text("utf-8"))
    return re.findall(r"\]\(([^)\s]+)\)", text)


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(path: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (path.parent / name).resolve() if name else path
    return not target.is_file() or bool(anchor and anchor not in anchors(target))


def test_links_between_pages_resolve() -> None:
    ours = [(path, link) for path in PAGES for link in links(path) if not re.match("https?://", link)]

    assert len(ours) > 100
    assert [found for found in ours if leads_nowhere(*found)] == []


def test_every_page_is_linked_from_the_index() -> None:
    index = DOCS / "index.md"
    linked = {(DOCS / link).resolve() for link in links(index)}

    assert set(DOCS.rglob("*.md")) - linked == {index}


def test_nobody_is_told_to_install_the_project_of_a_stranger() -> None:
    """`webcrawler` alone names another project on the package index; a folder is `./webcrawler`."""
    of_a_stranger = re.compile(r"pip install [^`\n]*(?<![\w./-])webcrawler(?![\w./-])")

    assert [path for path in (*PAGES, *SOURCES) if of_a_stranger.search(path.read_text("utf-8"))] == []


def test_the_changelog_names_our_commands_as_who_installs_them_types_them() -> None:
    """`scrapy` is ours in a clone alone, but for `frontier`, which every project has."""
    named = re.findall(r"\bscrapy ([a-z]+)\b[^`\n]*`", (ROOT / "CHANGELOG.md").read_text("utf-8"))

    assert not {path.stem for path in COMMANDS} & set(named) - {"crawl", "frontier"}


def messages(path: Path) -> Iterator[str]:
    """All texts in a file's code but its docstrings."""
    tree = parsed(path)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_message_names_a_file_of_the_documentation() -> None:
    """A wheel has none."""
    of_docs = re.compile(r"\bdocs/[\w-]+/")

    assert [(path, text) for path in SOURCES for text in messages(path) if of_docs.search(text)] == []


# Homes of one machine, and hosts of package registries: neither means anything to a reader.
FOREIGN = re.compile(r"/(?:work|home|root|Users)/|\.\./shared|pypi|pythonhosted|file://", re.IGNORECASE)


def test_no_page_names_a_path_of_one_machine_or_a_package_registry() -> None:
    assert [path for path in PAGES if FOREIGN.search(path.read_text("utf-8"))] == []
