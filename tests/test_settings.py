"""Settings are ordinary module-level names, with a default, a unit and a reason each."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from inprocess import PROJECT, command
from scrapy.settings import Settings

from webcrawler import settings
from webcrawler.crawl.dropin.project import options
from webcrawler.settings import SETTINGS, complaint, unknown

AS_JSON = """
import json
from webcrawler import settings
print(json.dumps({name: getattr(settings, name) for name in NAMES}))
"""


def read(*names: str, **variables: str) -> dict[str, object]:
    """What the settings are in a fresh process with these environment variables."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    line = [sys.executable, "-c", AS_JSON.replace("NAMES", repr(names))]
    done = subprocess.run(line, cwd=PROJECT, env=kept | variables, capture_output=True, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_each_setting_is_an_assignment_that_a_reader_sees() -> None:
    given = re.findall(r'(?m)^(\w+) = given\(\s*"(\w+)"', Path(settings.__file__).read_text("utf-8"))

    assert dict(given) == {name: name for name in SETTINGS}


def test_setting_is_its_default_where_nobody_says_otherwise() -> None:
    found = read(*SETTINGS)

    assert found.pop("USER_AGENT") == f"webcrawler/{settings.__version__}"
    assert found == {name: setting.default for name, setting in SETTINGS.items() if name != "USER_AGENT"}


def test_environment_comes_before_the_default() -> None:
    given = {"CRAWL_DIR": "/data", "FRONTIER_TRIES": "7"}

    assert read(*given, **given) == given


def test_set_to_nothing_it_is_as_if_it_were_not_set_unless_its_page_says_what_empty_means() -> None:
    _, *entries = (PROJECT / "docs/reference/settings.md").read_text("utf-8").split("\n### ")
    empty = {entry.split("\n")[0] for entry in entries if "Empty:" in entry}

    found = read(*SETTINGS, **dict.fromkeys(SETTINGS, ""))

    assert found.pop("USER_AGENT") == f"webcrawler/{settings.__version__}"
    assert found == {
        name: "" if name in empty else setting.default
        for name, setting in SETTINGS.items()
        if name != "USER_AGENT"
    }


def test_option_that_sets_it_to_nothing_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    said = {"CRAWL_DIR": tmp_path / "said"}

    answer = command("graph", "stats", folder=tmp_path, variables=said, CRAWL_DIR="")

    assert f"nothing was crawled into {tmp_path}/said yet" in answer.err


def test_spider_of_others_takes_nothing_for_not_set_too() -> None:
    assert options(Settings({"FRONTIER_TRIES": ""}), "mine").getint("FRONTIER_TRIES") == 3


def test_scrapy_sees_all_of_them() -> None:
    project = Settings()
    project.setmodule("webcrawler.settings")

    assert [name for name in SETTINGS if name not in project] == []
    assert [name for name in SETTINGS if complaint(name, project[name])] == []


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("FRONTIER_PARTITIONS", "100000", "partitions, from 0 to 1,024"),
        ("PARSER_WORKERS", "100000", "processes, from 0 to 256"),
        ("CONCURRENT_REQUESTS", "1000000", "downloads, from 1 to 10,000"),
        ("BATCH_SECONDS", "1e300", "seconds, from 0.01 to 1,000,000,000"),
        ("FRONTIER_DELAY", "inf", "seconds, from 0 to 1,000,000,000"),
        ("FRONTIER_DELAY", "nan", "seconds, from 0 to 1,000,000,000"),
        ("FRONTIER_TRIES", "9" * 5000, "fetches, from 1 to 1,000,000,000"),
        ("REFRESH_SHARE", "1.5", "share, from 0 to 1"),
        ("PROTOCOLS", "http;https", "put commas between"),
        ("DOCUMENT_TYPES", "pdf doc", "put commas between"),
        ("SERVE_ORIGINS", "https://a.test;https://b.test", "put commas between origins"),
        ("TRAP_PATHS", "/calendar/ /print/", "put commas between texts"),
    ],
)
def test_value_that_cannot_be_meant_is_refused_with_what_to_write(name: str, value: str, why: str) -> None:
    assert re.search(f"^{name}={value[:9]}.*{why}", complaint(name, value))


# What never was one


def test_a_name_that_is_no_setting_is_told_with_the_one_that_is_meant() -> None:
    assert unknown({"FRONTIER_DELAY": 1, "FRONT": 1, "DOWNLOAD_DELAY": 1}) == ""
    assert unknown({"FRONTIER_TRYES": 1}) == "there is no setting FRONTIER_TRYES; is FRONTIER_TRIES meant?"


def test_a_crawl_with_such_a_name_is_refused_in_one_line(tmp_path: Path) -> None:
    said = command("crawl", "-s", "FRONTIER_DELY=9", folder=tmp_path)

    assert (said.status, said.err) == (
        2,
        "error: there is no setting FRONTIER_DELY; is FRONTIER_DELAY meant?\n",
    )


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("scrapy search owls", "webcrawler.commands.search"),
        ("scrapy --nolog crawl index", "webcrawler.commands.crawl"),
        ("webcrawler import a.warc.gz", "webcrawler.commands.import"),
        ("scrapy list", "webcrawler.commands"),  # Scrapy's own
        ("scrapy", "webcrawler.commands"),
        ("scrapy --help", "webcrawler.commands"),
        ("scrapy _program", "webcrawler.commands"),
        ("scrapy ../crawl", "webcrawler.commands"),
        ("pytest tests/test_settings.py", "webcrawler.commands"),
    ],
)
def test_the_command_that_is_asked_for_is_imported_alone(
    monkeypatch: pytest.MonkeyPatch, line: str, module: str
) -> None:
    monkeypatch.setattr(sys, "argv", line.split())

    assert settings.commands() == module
