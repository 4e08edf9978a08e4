"""The documentation as a site: `make docs`. The order of its pages is in _toc.yml."""

project = "webcrawler"
extensions = ["myst_parser", "sphinx_external_toc", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = project
myst_heading_anchors = 4  # links to headings work as on code hosts
default_role = "code"  # docstrings set names between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
nitpicky = False  # many types are of libraries whose inventories would have to be downloaded
