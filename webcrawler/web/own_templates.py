"""Checks the owner's templates at the start, so that a mistake is one line there and no broken page later."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jinja2 import TemplateNotFound, TemplateSyntaxError, nodes
from jinja2.meta import find_referenced_templates, find_undeclared_variables

from webcrawler.errors import BadInput
from webcrawler.web.render import environment


def check(folder: Path) -> None:
    """Raises BadInput: there is no such folder, or a template in it cannot work; with its line if known."""
    if not folder.is_dir():
        raise BadInput(f"SERVE_TEMPLATES: there is no folder {folder}")
    ours = (file.name for file in (files("webcrawler.web") / "templates").iterdir())
    given = set[str]().union(*(find_undeclared_variables(_parsed(None, name)) for name in ours))
    own = {file: _parsed(folder, file.name) for file in sorted(folder.glob("*.html"))}
    for tree in own.values():
        given |= {name.name for name in tree.find_all(nodes.Name) if name.ctx != "load"}
    for file, tree in own.items():
        if unknown := find_undeclared_variables(tree) - given - set(environment(folder).globals):
            raise BadInput(f"{file}: no page has a value {min(unknown)!r}")


def _parsed(folder: Path | None, name: str) -> nodes.Template:
    """The template with this name; the templates that it names exist."""
    try:
        made = environment(folder)
        made.get_template(name)  # finds more mistakes than to parse it, such as filters that do not exist
        source, file, _ = made.loader.get_source(made, name)  # type: ignore[union-attr]
        tree = made.parse(source, name, file)
        for other in find_referenced_templates(tree):
            made.get_template(other or name)
    except TemplateSyntaxError as error:
        raise BadInput(f"{error.filename}, line {error.lineno}: {error.message}") from None
    except TemplateNotFound as error:
        raise BadInput(f"{name}: there is no template {error.name!r} in SERVE_TEMPLATES or here") from None
    except UnicodeError:
        raise BadInput(f"SERVE_TEMPLATES: a template that {name} needs is not UTF-8") from None
    return tree
