"""The number of threads of BLAS."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from threadpoolctl import ThreadpoolController

from npbench.numerics.threads import blas_threads, one_blas_thread


def test_every_thread_limits_blas_though_another_has_set_the_number():
    both = Barrier(2, timeout=30)

    def inside(_):
        with one_blas_thread():
            both.wait()  # the thread that resets the limit is not the one that has set it
            return blas_threads()

    with ThreadpoolController().limit(limits=2, user_api="blas"), ThreadPoolExecutor(2) as pool:
        before = blas_threads()
        assert list(pool.map(inside, range(2))) == [1, 1]
        assert blas_threads() == before
