"""What do the links of all folders say together? Tables of each folder, and jobs over all of them.

Not for one folder: its ranks and anchors are made from its catalog. Only where DATASET_URL is set.
"""

PURGED = "dataset.purged"  # file in a folder whose parts may tell of what was purged
