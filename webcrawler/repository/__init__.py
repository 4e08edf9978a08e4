"""The WARC files as the truth: catalog, index and ranks are made of them again (GO 4.2.2).

`rebuild` makes them of a data folder's own files, `import_files` takes in those of others,
`merge` makes one data folder of several, and `export` writes documents for others.
"""

from webcrawler.repository.export import Exported, export
from webcrawler.repository.importing import Imported, import_files
from webcrawler.repository.merge import merge
from webcrawler.repository.rebuild import Rebuilt, rebuild

__all__ = ["Exported", "Imported", "Rebuilt", "export", "import_files", "merge", "rebuild"]
