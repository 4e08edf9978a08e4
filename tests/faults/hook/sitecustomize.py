"""Arms the failpoints of every Python process with this folder on its PYTHONPATH, and of its children."""

import os
import sys

import failpoints

try:
    failpoints.arm(os.environ)
except ValueError as error:
    print(f"error: {error}", file=sys.stderr, flush=True)
    os._exit(2)
