"""Which word is worth asking a search form next? No link leads to the records behind it (SV).

`Form` is one search form, and knows its queries among URLs. `Pages` has the words of a site, `Evidence` what
the queries of a form have brought; it chooses the next word, by the rule of `expected_new`.
All is told by the catalog, so nothing of it is stored.
"""

from webcrawler.forms._choice import Past, expected_new, past, unseen
from webcrawler.forms._evidence import PATIENCE, Evidence, Pages
from webcrawler.forms._form import Form

__all__ = ["PATIENCE", "Evidence", "Form", "Pages", "Past", "expected_new", "past", "unseen"]
