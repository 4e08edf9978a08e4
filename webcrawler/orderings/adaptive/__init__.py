"""The ordering that learns while it crawls. How it was found: docs/explanation/adaptive-crawling.md."""
