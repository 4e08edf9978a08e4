"""Which extra of the package brings a library, and is it there? The frontier needs none of them."""

from __future__ import annotations

from importlib.util import find_spec

from webcrawler.errors import BadInput

_SEARCH = (
    *("Stemmer", "aioftp", "chardetng_py", "lxml", "numpy", "pebble", "py3langid", "rapidfuzz", "rich"),
    *("scipy", "warcio", "webencodings", "whoosh", "wordfreq"),
)
# What cannot be done without, by the names of import.
LIBRARIES = {
    "search": _SEARCH,
    "serve": (
        *_SEARCH,
        "nh3",
        "python_multipart",
        "starlette",
        "uvicorn",
    ),
    "lab": _SEARCH,
    "graph": (*_SEARCH, "networkx"),
    "plots": (*_SEARCH, "matplotlib"),
    "parquet": (*_SEARCH, "pyarrow"),
    "judge": (*_SEARCH, "ir_measures"),
    "classifier": (*_SEARCH, "sklearn"),
    "documents": (*_SEARCH, "markdown_it", "pypdfium2", "striprtf"),
}


def is_installed(extra: str) -> bool:
    """Is all that an extra brings installed? "": true."""
    return all(find_spec(name) for name in LIBRARIES.get(extra, ()))


def require(extra: str, what: str) -> None:
    """Raises BadInput: something that `what` needs is not installed; one line says which extra brings it."""
    for name in LIBRARIES.get(extra, ()):
        if not find_spec(name):
            raise BadInput(f'{what} needs {name}: pip install "scrapy-webcrawler[{extra}]"')
