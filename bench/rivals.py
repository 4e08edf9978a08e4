"""What a user would pick instead, each as its own documentation shows it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat

import bm25s
import Stemmer
from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import ID, TEXT, Schema
from whoosh.index import create_in
from whoosh.qparser import MultifieldParser, OrGroup

from webcrawler.evaluation.judged import Paper

MOST = 1000  # hits that are measured

Queries = Mapping[str, str]
Runs = dict[str, list[str]]  # ids of documents by query, best first


def whoosh(papers: Sequence[Paper], queries: Queries) -> Runs:
    """BM25F over title and text, any word, its own stemming analyzer."""
    analyzer = StemmingAnalyzer()
    schema = Schema(id=ID(stored=True), title=TEXT(analyzer), text=TEXT(analyzer))
    with tempfile.TemporaryDirectory() as folder:
        index = create_in(folder, schema)
        writer = index.writer()
        for paper in papers:
            writer.add_document(id=paper.id, title=paper.title, text=paper.text)
        writer.commit()
        parser = MultifieldParser(["title", "text"], schema, group=OrGroup)
        with index.searcher() as searcher:
            return {
                query: [hit["id"] for hit in searcher.search(parser.parse(words(text)), limit=MOST)]
                for query, text in queries.items()
            }


def bm25s_lucene(papers: Sequence[Paper], queries: Queries) -> Runs:
    """Lucene's BM25, k1 1.5, b .75 (its defaults), Porter2 and its English stop words, one field."""
    quiet = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(bm25s.tokenize([f"{p.title} {p.text}" for p in papers], **quiet), show_progress=False)
    asked = bm25s.tokenize(list(queries.values()), return_ids=False, **quiet)
    runs: Runs = {}
    for query, tokens in zip(queries, asked, strict=True):
        scores = index.get_scores(tokens) if tokens else repeat(0.0, len(papers))
        best = sorted(zip(scores, range(len(papers)), strict=True), key=lambda one: (-one[0], one[1]))
        runs[query] = [papers[place].id for score, place in best[:MOST] if score > 0]
    return runs


def words(text: str) -> str:
    """A query without what a query language would read as signs."""
    return " ".join(re.findall(r"\w+", text)).lower()


RIVALS: dict[str, Callable[[Sequence[Paper], Queries], Runs]] = {
    "Whoosh BM25F": whoosh,
    "bm25s": bm25s_lucene,
}
