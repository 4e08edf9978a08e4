"""The commands. Ctrl-C while they are still being imported, some seconds, is one line and no traceback."""

import sys
from types import TracebackType

_before = sys.excepthook


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        _before(kind, error, trace)


sys.excepthook = _tell
