"""The documentation as a site: `make docs`. The order of its pages is in _toc.yml."""

import json

from myst_parser.parsers.sphinx_ import MystParser

project = "webcrawler"
extensions = ["myst_parser", "sphinx_external_toc", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = project
myst_heading_anchors = 4  # links to headings work as on code hosts
default_role = "code"  # docstrings set names between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
nitpicky = False  # many types are of libraries whose inventories would have to be downloaded


class NotebookParser(MystParser):
    """Reads a notebook as a page: texts, code, and what was printed and drawn when it was stored."""

    supported = ("notebook",)

    def parse(self, inputstring, document):
        title, *others = (_cell(cell) for cell in json.loads(inputstring)["cells"])
        download = "{download}`This page as a notebook <laboratory.ipynb>`"
        super().parse("\n\n".join((title, download, *others)), document)


def _cell(cell):
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join((f"```python\n{source}\n```", *map(_output, cell["outputs"])))


def _output(output):
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        return f"![What the cell draws](data:image/png;base64,{''.join(data['image/png']).strip()})"
    return f"```text\n{''.join(data['text/plain'])}\n```"


def setup(app):
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
