"""What becomes of a page: duplicates, pages, link graph, full text. Each adds its part to the batch's entry."""
