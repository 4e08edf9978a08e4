"""The columns of a segment in Whoosh's own format, read as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.codec.whoosh3 import STORED_COLUMN, W3PerDocReader

from webcrawler.index.whoosh.pickles import loads


class BulkPerDocReader(W3PerDocReader):  # type: ignore[misc]
    """Reads whole columns."""

    def stored_fields(self, docnum: int) -> dict[str, Any]:
        pickled = self._cached_reader("_stored", STORED_COLUMN)._child[docnum]
        return loads(pickled) if pickled else {}

    def array(self, column: str, dtype: str) -> NDArray[Any]:
        """The numbers of all documents, deleted ones included; 0 where a document has none."""
        found = np.zeros(self._doccount, dtype)
        if self.has_column(column):
            file, offset, size = self._get_column_file(column)
            with file:
                data = np.frombuffer(bytes(file.get(offset, size)), dtype)[: self._doccount]
                found[: len(data)] = data
        return found
