"""Loads the language detector in the parsers' fork server, once for all of them: they share its memory."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a server that forks must have no threads

from webcrawler.parsing.language import detector

detector()
