"""A program that works between its locks; prints how long its working section took: wall and CPU seconds.

The threads hash blocks, which frees the GIL, and take a lock of their own after each. Once in ten turns
they take a shared lock instead and hash HELD blocks under it: the more, the more often it is found taken.

    python _recorder_workload.py THREADS ACQUIRES BLOCK_BYTES HELD
"""

import hashlib
import sys
import threading
import time

_SHARED_EVERY = 10


def main() -> None:
    """Runs the threads, prints the figures."""
    threads, acquires, block_bytes, held = map(int, sys.argv[1:])
    shared = threading.Lock()
    begin = threading.Barrier(threads + 1)
    workers = [
        threading.Thread(target=_work, args=(begin, shared, held, acquires // threads, bytes(block_bytes)))
        for _ in range(threads)
    ]
    for worker in workers:
        worker.start()
    begin.wait()
    wall, cpu = time.perf_counter(), time.process_time()
    for worker in workers:
        worker.join()
    print(time.perf_counter() - wall, time.process_time() - cpu)


def _work(begin: threading.Barrier, shared: threading.Lock, held: int, acquires: int, block: bytes) -> None:
    own = threading.Lock()
    begin.wait()
    for turn in range(acquires):
        if turn % _SHARED_EVERY == 0:
            with shared:
                for _ in range(held):
                    hashlib.sha256(block)
        else:
            hashlib.sha256(block)
            with own:
                pass


if __name__ == "__main__":
    main()
