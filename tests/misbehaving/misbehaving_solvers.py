"""A solver that can be told to misbehave on data of ordinary size; toy data of the warm-up are small.

Some acts are done there too.
"""

import ctypes
import os
import pickle
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

EARLY = ("dies early", "allocate", "hangs early", "leak early")
EXIT_CODES = {"leave": 0, "leave 7": 7, "dies early": 9}
LEAKED = []
# Bytes in the place of a message: no lengths, half a message, a message of 2**62 bytes, and one that is no JSON.
WRITTEN = {
    "rubbish": b"solvers may write anywhere",
    "truncated": struct.pack("!QQ", 100, 0) + b'[{"ended',
    "endless": struct.pack("!QQ", 2**62, 2**62),
    "pickle": struct.pack("!QQ", 30, 0) + pickle.dumps(print).ljust(30),
}
SIGNALS = {
    "stop the server": signal.SIGSTOP,
    "stop all": signal.SIGSTOP,
    "stop root": signal.SIGSTOP,
    "kill the server": signal.SIGKILL,
    "kill all": signal.SIGKILL,
}


class Difference(ClassifierMixin, BaseEstimator):
    def __init__(self, *, act="", folder="", seconds=0.0):
        self.act, self.folder, self.seconds = act, folder, seconds
        if act == "hangs in __init__":
            time.sleep(60)

    def fit(self, X, y):
        if len(y) > 60 or self.act in EARLY:
            self._misbehave()
        self.classes_ = np.unique(y)
        self.w_ = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
        self.b_ = -(X.mean(axis=0) @ self.w_)
        if self.act == "count threads":
            self.threads_ = threads()
        return self

    def decision_function(self, X):
        return X @ self.w_ + self.b_

    def _misbehave(self):  # noqa: PLR0912 -- one act, one branch
        if self.folder:
            Path(self.folder, f"pid-{os.getpid()}").touch()
        time.sleep(self.seconds)
        if self.act == "raise":
            raise ArithmeticError("the solver gave up")
        if self.act == "memory":
            np.empty(2**45)
        if self.act == "allocate":
            held = []
            while True:
                held.append(np.ones(2**17))
        if self.act == "print":
            print("to be seen")
            print("and warned", file=sys.stderr)
            subprocess.run(["echo", "by a child"], check=True)
            ctypes.CDLL(None).puts(b"from C")
        if self.act == "print and die":
            print("x" * 5000 + "last words")
            os._exit(3)
        if self.act == "segfault":
            ctypes.string_at(0)
        if self.act in EXIT_CODES:
            os._exit(EXIT_CODES[self.act])
        if self.act == "sys.exit":
            sys.exit("enough")
        if self.act == "hangs early":
            time.sleep(60)
        if self.act == "hang":
            ctypes.PyDLL(None).sleep(60)  # in C, and no other thread of Python runs
        if self.act == "patch":
            total = np.sum
            np.sum = lambda *args, **options: total(*args, **options) + 1
            np.quantile = np.unique = np.isfinite = lambda values, *args, **options: values
        if self.act == "clear":
            sys.path.clear()
            os.environ.clear()
        if self.act == "fork" and os.fork():  # both go on; the new process is first
            time.sleep(0.1)
        if self.act == "fork in C":
            ctypes.CDLL(None).fork()
        if self.act in WRITTEN:
            for path in Path("/proc/self/fd").iterdir():
                if path.is_socket():
                    os.write(int(path.name), WRITTEN[self.act])
            os._exit(0)
        if self.act in SIGNALS:
            for pid in ancestors()[: {"server": 1, "all": 3, "root": 4}[self.act.split()[-1]]]:
                os.kill(pid, SIGNALS[self.act])
            time.sleep(0.5)
        if self.act == "flood":
            for _ in range(300):
                print("x" * 10**6)
        if self.act == "leave late":
            threading.Timer(0.2, os._exit, [7]).start()
        if self.act == "remove":
            shutil.rmtree(self.folder)
        if self.act in ("leak", "leak early"):
            LEAKED.append(np.ones(15_000_000))
        if self.act in ("child", "session", "session of a crash"):
            child = subprocess.Popen(["sleep", "60"], start_new_session=self.act != "child")
            Path(self.folder, self.act).write_text(str(child.pid))
            if self.act == "child":
                time.sleep(60)
            if self.act == "session of a crash":
                os._exit(1)


def ancestors(pid="self"):
    """Return the server of a solver, its nursery, the process that judges, and the server of all."""
    pids = [pid]
    for _ in range(4):
        pids.append(int(Path(f"/proc/{pids[-1]}/stat").read_text().rpartition(")")[2].split()[1]))
    return pids[1:]


def threads():
    from numba import get_num_threads
    from threadpoolctl import threadpool_info

    found = {library["num_threads"] for library in threadpool_info()} | {get_num_threads()}
    return float(found.pop()) if len(found) == 1 else float("nan")


def threads_of_fit(y, scores, problem, estimator):
    return float(estimator.threads_)


def sum_of_scores(y, scores, problem, estimator):
    return float(np.sum(scores))
