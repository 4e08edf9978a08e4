"""Which documents hold these words? An inverted index, followed from the catalog and never the truth.

`analysis.terms` makes terms of a text, `schema.make_schema` names the fields, `follower.start` keeps the
index up to date. Inside: `hits` encodes a posting, `codec` and `writer` write segments in bulk, `merging`
keeps them few, `folder` opens and exchanges an index, `following` applies changes.
"""
