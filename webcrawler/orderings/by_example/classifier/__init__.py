"""Which pages are like the examples? A classifier, trained while it crawls, as an ordering: `Classifier`.

`documents` makes rows of features, `training` keeps the documents to learn from, `model` learns.
"""

from webcrawler.orderings.by_example.classifier.ordering import Classifier

__all__ = ["Classifier"]
