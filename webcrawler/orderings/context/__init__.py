"""The ordering by distance from the topic: a context graph that is learnt while it crawls."""
