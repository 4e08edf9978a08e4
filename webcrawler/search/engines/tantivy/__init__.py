"""The engine over tantivy's indexes: matching and BM25 are tantivy's, anchors and importance are added here.

Of `answer`'s steps `opening` has the two indexes of one commit, `translating` turns a query's tree into
tantivy's queries, `scoring` gives words their weight, `explaining` takes a score apart.

Weaknesses: a search of tantivy cannot be stopped half way: the deadline is looked at between searches, and
caps bound each of them. Of three or more words in a proximity each two have to be near each other somewhere,
not all at one place.
"""

from webcrawler.search.engines.tantivy.engine import TantivyEngine

__all__ = ["TantivyEngine"]
