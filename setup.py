"""One name at the top of what is installed: webcrawler/, which takes in other folders of the checkout."""

import re
from pathlib import Path

from setuptools import find_packages, setup

BESIDE = ("spiders", "pipelines", "docs")  # names that other projects have, too
found = ["docs", *find_packages(include=[f"{name}*" for name in ("webcrawler", *BESIDE)])]

# A package index has no files beside the README: a link to one becomes its path, a picture is left out.
readme = Path("README.md").read_text("utf-8")
readme = re.sub(r"(?m)^!\[.*\]\(.*\)\n\n", "", readme)
readme = re.sub(r"\[([^\]]+)\]\((?!https?:)([^)]+)\)", r"\1 (`\2`)", readme)

setup(
    packages=[name if name.startswith("webcrawler") else f"webcrawler.{name}" for name in found],
    package_dir={f"webcrawler.{name}": name for name in BESIDE},
    long_description=readme,
    long_description_content_type="text/markdown",
)
