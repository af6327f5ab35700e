"""Records a part of a program: what `with unjank.record(...)` is for."""

import threading

import unjank


def serve() -> None:
    """Stands in for the part of your program that stalls."""
    lock = threading.Lock()
    total = 0

    def count() -> None:
        nonlocal total
        for _ in range(1000):
            with lock:
                total += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(total)


with unjank.record("out.pftrace"):
    serve()
