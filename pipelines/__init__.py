"""What becomes of a page: duplicates, pages, link graph, full text; each adds its part to the entry."""
