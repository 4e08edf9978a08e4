"""What can go wrong, and is it worth a retry?

WebcrawlerError
├── BadInput            invalid request: say so in one line, exit 2, never retry
│   ├── BadUrl          no URL that could be fetched
│   └── TooLarge        more than is taken at a time: send less
├── Unavailable         a passing fault: back off and try again
├── Unreadable          a document that is encrypted or damaged
└── ParserKilled        a page that its parser did not survive
"""


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


class Unreadable(WebcrawlerError):
    """Raised when a document cannot be read, by anybody or by what is installed here; never retry."""


class ParserKilled(WebcrawlerError):
    """Raised when a parser passed its deadline or its memory limit, or died; the page is to blame."""
