"""What do documents beyond HTML say and link to?

`kinds` is the table of them: which Content-Type, which ending of a file, which reader. A reader is a module
with one function, `read(body, content_type, target)`. It tells a target what stands in a document by the
events of an HTML parser, so that headings, emphasis and links are those of a page (`parsing.reader`). Its
library is imported by the first document that needs it.
"""

from webcrawler.parsing.documents.kinds import (
    HTML,
    KINDS,
    declared_kind,
    kind_of,
    readable_kinds,
    unread_endings,
)
from webcrawler.parsing.documents.reading import read

__all__ = ["HTML", "KINDS", "declared_kind", "kind_of", "read", "readable_kinds", "unread_endings"]
