"""What five papers ask for, a test a row: each quotes a sentence of its paper and looks whether it is so.

docs/explanation/papers.md says of each row where it is, and names its test by number.
"""
