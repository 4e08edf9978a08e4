"""Sets the clock of a Python process with this folder on its PYTHONPATH ahead, by DAYS_AHEAD days."""

import os
import time

_AHEAD_SECONDS = 86400 * float(os.environ.get("DAYS_AHEAD", "0"))
_time = time.time
time.time = lambda: _time() + _AHEAD_SECONDS
