"""One name at the top of what is installed: spiders/ and pipelines/ of the checkout go into webcrawler/."""

from setuptools import find_packages, setup

BESIDE = ("spiders", "pipelines")  # names that other projects have, too
found = find_packages(include=[f"{name}*" for name in ("webcrawler", *BESIDE)])

setup(
    packages=[name if name.startswith("webcrawler") else f"webcrawler.{name}" for name in found],
    package_dir={f"webcrawler.{name}": name for name in BESIDE},
)
