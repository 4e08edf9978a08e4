"""The ordering that learns while it crawls: docs/explanation/adaptive-crawling.md."""
