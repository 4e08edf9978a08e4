"""Files of numpy arrays are read by one thread at a time."""

from threading import Lock

# numpy reads headers with `ast`, whose count of its depth threads share: CPython issue 106905, up to 3.12.
READING = Lock()
