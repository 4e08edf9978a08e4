"""Whether tests are steady: `python .ci/steady.py TEST…` runs them twenty times beside two busy processes.

Each time has a seed of its own. Once more, each test begins at .55 of a second: rounded, that is the future.
All that a red run wrote is told, with its seed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import SystemRandom

PYTEST = (sys.executable, "-m", "pytest")
LATE = ("-p", "moment", "--begins-at=.55")
# Nobody has to end it, if need be.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): sum(range(100_000))"


def main() -> int:
    parser = argparse.ArgumentParser(description="Run tests again and again, on a busy machine.")
    parser.add_argument("tests", nargs="+", metavar="TEST", help="a file of tests, or one of them")
    parser.add_argument("--times", type=int, default=20, help="default %(default)d")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the busy ones are ended
    busy = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(2)]
    try:
        passed = [passes(given.tests, *options) for options in [()] * given.times + [LATE]]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(f"{passed.count(True)} of {len(passed)} runs were green")
    return 0 if all(passed) else 1


def passes(tests: list[str], *options: str) -> bool:
    """All that a run wrote if it is red, else the sum."""
    seed = str(SystemRandom().randrange(2**32))
    variables = {"WEBCRAWLER_SEED": seed, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [*PYTEST, *options, *tests], env=os.environ | variables, capture_output=True, text=True
    )
    green = done.returncode == 0
    told = done.stdout.splitlines()[-1:] if green else [done.stdout, done.stderr]
    print(*options[2:], f"WEBCRAWLER_SEED={seed} PYTHONHASHSEED={seed}:", *told, flush=True)
    return green


if __name__ == "__main__":
    sys.exit(main())
