"""`python -m webcrawler.demo [--port-base N]`: serve the demo web until Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys

from webcrawler.demo.web import SERVERS, DemoWeb
from webcrawler.errors import BadInput


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m webcrawler.demo", description="Serve the demo web.")
    parser.add_argument("--port-base", type=int, help=f"first of {SERVERS} ports in a row")
    base = parser.parse_args().port_base
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # before there are threads, which inherit it
    web = DemoWeb(range(base, base + SERVERS) if base else None)
    try:
        web.start()
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    print(*web.seeds, flush=True)
    signal.sigwait(ends)
    web.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
