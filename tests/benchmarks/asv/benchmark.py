"""Base class of all benchmarks: a task in several sizes, with its time, memory and quality."""

import abc
import functools
import hashlib
import inspect
import itertools
import time
import warnings

from sklearn.exceptions import ConvergenceWarning


class Benchmark(abc.ABC):
    """A task on a problem drawn from a fixed seed; the first parameter is its size.

    Quality is a number that is smaller for better answers and never negative, as asv takes a larger one for a
    regression; what rounding makes of it is cut off, so that only more than that is one. Memory is the peak of the
    whole process, some 150 to 200 MB of it the interpreter and its libraries: growth with the size is the task's own.
    """

    param_names = ("n",)
    repeat = (1, 10, 3.0)  # seconds, in each of two processes
    timeout = 300.0
    timer = time.process_time  # on one core, what else the machine does counts little

    def __init_subclass__(cls):
        """Let asv drop what it measured when any part of the task has changed, not only the methods below."""
        parts = [part for part in cls.__mro__ if issubclass(part, Benchmark)]
        cls.version = hashlib.sha256("".join(map(inspect.getsource, parts)).encode()).hexdigest()

    @abc.abstractmethod
    def prepare(self, *params):
        """Return the problem."""

    @abc.abstractmethod
    def task(self, problem):
        """Solve it as users do, to a tolerance if there is one."""

    @abc.abstractmethod
    def quality(self, problem):
        """Return how far off an answer on a fixed budget is, or how large its objective."""

    def setup(self, *params):
        self.problem = prepared(type(self), params)

    def time_task(self, *params):
        self.task(self.problem)

    def peakmem_task(self, *params):
        self.task(self.problem)

    def track_quality(self, *params):
        return float(self.quality(self.problem))


@functools.cache
def prepared(benchmark, params):
    """Return a problem, its kernels loaded: asv calls ``setup`` before each sample, and in each process."""
    load(benchmark, params[1:])
    return benchmark().prepare(*params)


@functools.cache
def load(benchmark, others):
    """Run the task and its measurement at the smallest size."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    sizes = benchmark.params if len(benchmark.param_names) == 1 else benchmark.params[0]
    smallest = benchmark().prepare(sizes[0], *others)
    benchmark().task(smallest)
    benchmark().quality(smallest)


def compile_all(*benchmarks):
    """Compile what the tasks call, in a process of its own (``setup_cache``): the compiler takes memory, too."""
    for benchmark in benchmarks:
        for others in itertools.product(*benchmark.params[1:]) if len(benchmark.param_names) > 1 else [()]:
            load(benchmark, others)
