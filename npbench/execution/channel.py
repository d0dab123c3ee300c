"""Messages between processes: objects to a process that npbench starts, plain data from it.

A process that ran a stranger's code may write anything into its end. Its starter therefore unpickles nothing: it reads
JSON and float64 numbers, of bounded length, and anything else is :class:`RubbishError`.
"""

import json
import os
import pickle
import socket
import struct
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

MAX_TEXT_BYTES = 2**26
MAX_NUMBER_BYTES = 2**32  # stored as they arrive: a false length takes no memory
SECONDS_TO_TAKE = 60  # if no byte is taken for this long, a process counts as hung

_LENGTHS = struct.Struct("!QQ")  # of the JSON and of the numbers


class RubbishError(Exception):
    """The other side wrote something that is not a message."""


class Channel:
    """One end of a pair of sockets."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        # Unlike a file of the socket, which would keep it open after its close.
        self._reader = os.fdopen(end.fileno(), "rb", closefd=False)
        self._received = bytearray()

    def send(self, message: Any) -> None:
        """Send an object to a process; its arrays are not copied."""
        pickle.dump(message, SimpleNamespace(write=self.socket.sendall), protocol=5)

    def receive(self) -> Any:
        """Wait for the next object, in the process; raise EOFError when the starter has gone."""
        return pickle.load(self._reader)

    def answer(self, facts: Any, arrays: Sequence[np.ndarray] = ()) -> None:
        """Send plain data to the starter: facts that JSON can express, and numbers."""
        text = json.dumps([facts, [list(array.shape) for array in arrays]]).encode()
        numbers = b"".join(np.ascontiguousarray(array, dtype="<f8").tobytes() for array in arrays)
        self.socket.sendall(_LENGTHS.pack(len(text), len(numbers)) + text + numbers)

    def answered(self) -> tuple[Any, list[np.ndarray]] | None:
        """Return the next plain data if all of it is there, else None; raise EOFError or RubbishError."""
        while len(self._received) < (end := self._end()):
            try:
                chunk = self.socket.recv(2**18, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            if not chunk:
                raise EOFError
            self._received += chunk
        start, middle = _LENGTHS.size, _LENGTHS.size + _LENGTHS.unpack_from(self._received)[0]
        text, numbers = self._received[start:middle], np.frombuffer(self._received[middle:end], "<f8")
        del self._received[:end]
        try:
            facts, shapes = json.loads(text)
            ends = np.cumsum([int(np.prod(shape)) for shape in shapes], dtype=np.int64)
            arrays = [part.reshape(shape) for part, shape in zip(np.split(numbers, ends), shapes, strict=False)]
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise RubbishError(f"{type(error).__name__}: {error}") from error
        return facts, arrays

    def _end(self) -> int:
        """Return the end of the next message among the received bytes, or of its lengths while these are not there."""
        if len(self._received) < _LENGTHS.size:
            return _LENGTHS.size + 1  # no JSON is empty
        text, numbers = _LENGTHS.unpack_from(self._received)
        if not 0 < text <= MAX_TEXT_BYTES or numbers > MAX_NUMBER_BYTES or numbers % 8:
            raise RubbishError(f"a message of {text} and {numbers} bytes")
        return _LENGTHS.size + text + numbers
