"""The owner's templates and styles: what takes the place of what, and how mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from searched import entry, publish
from starlette.testclient import TestClient
from test_web import Seen

from webcrawler.errors import BadInput
from webcrawler.web import Config, make_app

pytestmark = pytest.mark.slow

BASE = """{% extends "webcrawler/base.html" %}
{% block name %}<img src="{{ static_url('logo.svg') }}" alt=""> {{ config.title }}{% endblock %}
"""


def served(tmp_path: Path, files: dict[str, str]) -> TestClient:
    publish(tmp_path / "crawl", [entry(("http://a.test/", "Harbour <b>", "pilots <script>"))])
    (tmp_path / "look/static").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "look" / name).write_text(text)
    config = Config(tmp_path / "crawl", title="Ours", rate="", templates=tmp_path / "look")
    return TestClient(make_app(config), "http://localhost")


def test_own_style_comes_after_ours_and_own_files_take_the_place_of_ours(tmp_path: Path) -> None:
    with served(tmp_path, {"static/own.css": ":root { --accent: red }", "static/icon.svg": "<svg/>"}) as web:
        page = Seen(web.get("/").text)
        *_, ours, own = (one["href"] or "" for one in page.all("link") if one["rel"] == "stylesheet")

        assert "style." in ours and web.get(own).text == ":root { --accent: red }"
        assert web.get("/favicon.ico").text == "<svg/>"


def test_own_template_extends_ours_on_all_pages(tmp_path: Path) -> None:
    with served(tmp_path, {"base.html": BASE, "static/logo.svg": "<svg/>"}) as web:
        for path in ("/", "/search?q=harbour", "/status", "/nowhere"):
            page = Seen(web.get(path).text)

            assert [web.get(image["src"] or "").text for image in page.all("img")] == ["<svg/>"]
            assert page.all("form")


def test_what_strangers_wrote_is_escaped_in_own_templates_too(tmp_path: Path) -> None:
    hit = "<li>{{ hit.title }} {{ hit.snippet }}{% set own = 1 %}{% include '_own.html' %}</li>"
    with served(tmp_path, {"_hit.html": hit, "_own.html": "{{ own }}"}) as web:
        assert "<li>Harbour &lt;b&gt; pilots &lt;script&gt;1</li>" in web.get("/search?q=harbour").text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\n{% if %}", "error.html, line 2: Expected an expression, got 'end of statement block'"),
        ("{{ line|shiny }}", "error.html, line 1: No filter named 'shiny'"),
        ("{{ lin }}", "error.html: no page has a value 'lin'"),
        ("{% extends 'bass.html' %}", "error.html: there is no template 'bass.html'"),
        ("{% block main %}", "error.html, line 1: Unexpected end of template"),
    ],
)
def test_template_that_cannot_work_is_told_at_the_start(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        served(tmp_path, {"error.html": text})

    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_folder_of_templates_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="SERVE_TEMPLATES: there is no folder"):
        make_app(Config(tmp_path, templates=tmp_path / "nowhere"))
