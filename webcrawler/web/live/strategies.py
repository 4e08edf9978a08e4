"""The ways to choose what to fetch next that can run here, each with a sentence for who has to choose one."""

from __future__ import annotations

from webcrawler.orderings import strategies

DEFAULT = "adaptive"
STRATEGIES = {mode.name: mode.help for mode in strategies() if mode.can_run}
BY_EXAMPLES = [mode.name for mode in strategies() if mode.by_examples]
