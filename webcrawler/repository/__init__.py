"""The WARC files as the truth: catalog, index and ranks are made of them again (GO 4.2.2).

`rebuild` makes them of a data folder's own files, `import_files` takes in those of others,
`receive` takes in what a search on another machine has found, and `hand_over` sends it there; `merge` makes
one data folder of several, and `export` writes documents for others. `backup` makes a second copy of a data
folder, and `check` says whether its stores belong together.
"""

from webcrawler.repository.backup import backup, check
from webcrawler.repository.export import (
    Exported,
    MainIndex,
    export,
    hand_over,
    main_index,
    share_finds,
    token_of,
)
from webcrawler.repository.importing import Imported, follow, import_files, receive
from webcrawler.repository.rebuild import Rebuilt, hold_alone, merge, rebuild

__all__ = [
    "Exported",
    "Imported",
    "MainIndex",
    "Rebuilt",
    "backup",
    "check",
    "export",
    "follow",
    "hand_over",
    "hold_alone",
    "import_files",
    "main_index",
    "merge",
    "rebuild",
    "receive",
    "share_finds",
    "token_of",
]
