"""Seconds, peak memory and quality of several sides that do the same work in turn."""

import ctypes
import gc
import statistics
import time
from dataclasses import dataclass, field


@dataclass
class Side:
    """One side of a comparison, over its repetitions."""

    seconds: list = field(default_factory=list)
    #: Megabytes beyond what the process held before.
    peak: float = 0.0
    quality: dict = field(default_factory=dict)

    @property
    def median(self):
        return statistics.median(self.seconds)


def _status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def peak_of(work):
    """What the work returns, and the megabytes it held at most beyond what there was before (Linux)."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        # Forgets the highest value so far.
        open("/proc/self/clear_refs", "w").write("5")
    except (OSError, AttributeError):
        return work(), float("nan")
    before = _status("VmRSS:")
    result = work()
    return result, max(0.0, _status("VmHWM:") - before)


def timed(work):
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def alternate(sides, repetitions):
    """Runs the sides in turn; each is a function that returns (seconds, quality)."""
    measured = {name: Side() for name in sides}
    for _ in range(repetitions):
        for name, work in sides.items():
            (seconds, quality), peak = peak_of(work)
            side = measured[name]
            side.seconds.append(seconds)
            side.peak = max(side.peak, peak)
            side.quality = quality
            # Threads of some libraries spin for a while after their work.
            time.sleep(0.02)
    return measured
