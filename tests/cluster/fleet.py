"""All engines of a fleet on this machine, to try them: `make cluster-up`, until Ctrl-C.

What they hold goes with them.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # where this is the program
import rediscluster
import s3servers
from opensearch import cluster

from webcrawler.objects import open_store


def main() -> None:
    with ExitStack() as opened, suppress(KeyboardInterrupt):
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        bucket = f"s3://{s3servers.BUCKET}"
        variables = s3servers.environment(opened.enter_context(s3servers.seaweedfs(folder / "s3")).url)
        os.environ.update(variables)
        open_store(bucket, "PAGES_URL").put("begun", b"")  # makes the bucket
        variables |= {"PAGES_URL": f"{bucket}/pages", "DATASET_URL": f"{bucket}/dataset"}
        variables["REDIS_URL"] = opened.enter_context(
            rediscluster.cluster(_made(folder / "redis"), replicas=True)
        ).url
        variables["FRONTIER_PARTITIONS"] = "16"
        variables["SINK_URL"] = opened.enter_context(cluster(folder / "opensearch", 3, java=())).url("web")
        print("\n".join(f"export {name}={value}" for name, value in variables.items()), flush=True)
        print("# searches: SEARCH_URL=$SINK_URL; all of it ends with Ctrl-C", flush=True)
        signal.pause()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
