"""Files of numpy arrays are read by one thread at a time."""

from threading import Lock

# numpy reads headers with `ast`, whose count of its depth threads share: now and then that ends in a
# SystemError (seen with Python 3.11.7; CPython issue 106905).
READING = Lock()
