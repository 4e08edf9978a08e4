"""What can go wrong, and is it worth a retry? Which libraries are missing, and which extra brings them?

WebcrawlerError
├── BadInput            invalid request: say so in one line, exit 2, never retry
│   ├── BadUrl          no URL that could be fetched
│   └── TooLarge        more than is taken at a time: send less
├── Unavailable         a passing fault: back off and try again
│   └── StoreAway       a store that other machines read, too
├── Unreadable          a document that is encrypted or damaged
└── ParserKilled        a page that its parser did not survive
"""

from __future__ import annotations

from importlib.util import find_spec


class WebcrawlerError(Exception):
    """The root of all errors that this project raises by itself."""


class BadInput(WebcrawlerError):
    """Raised when a person asked for something that cannot be; the message says what to do."""


class BadUrl(BadInput):
    """Raised when a text is not an http or https URL by the WHATWG URL standard."""


class TooLarge(BadInput):
    """Raised when what was sent, or what it unpacks to, is more than is taken at a time."""


class Unavailable(WebcrawlerError):
    """Raised when Redis or a disk does not answer now but may later."""


class StoreAway(Unavailable):
    """Raised when a shared folder or a bucket does not answer, or refuses: what it has may be there."""


class Unreadable(WebcrawlerError):
    """Raised when a document cannot be read, by anybody or by what is installed here; never retry."""


class ParserKilled(WebcrawlerError):
    """Raised when a parser passed its deadline or its memory limit, or died; the page is to blame."""


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
    "opensearch": (*_SEARCH, "urllib3"),
    "s3": (*_SEARCH, "obstore"),
    "dataset": (*_SEARCH, "duckdb", "obstore", "pyarrow"),
    "fleet": (*_SEARCH, "duckdb", "obstore", "pyarrow", "urllib3"),
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
