"""A bar of one line for ``verbose=1``: in terminals and notebooks it is redrawn, elsewhere it is a line
now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

_WIDTH = 24


def _redraws(stream: Any) -> bool:
    """Whether a carriage return takes the stream back to the beginning of the line."""
    return bool(getattr(stream, "isatty", bool)()) or "ipykernel" in type(stream).__module__


class Bar:
    """Draws what a fit has reached, and how much of it is done as far as the engine can tell."""

    def __init__(self, name: str, stream: Any = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        self.name = name
        self.redraws = _redraws(self.stream)
        self.begun = self.drawn = time.monotonic()
        self.done = 0.0
        self.length = 0

    def __call__(self, info: dict[str, Any]) -> None:
        now = time.monotonic()
        self.done = max(self.done, info["share"] or 0.0)
        if self.redraws or now - self.drawn >= 10:
            self.drawn = now
            self._write(self._line(info, now - self.begun))

    def close(self, summary: str) -> None:
        """Ends the line with what came out."""
        seconds = time.monotonic() - self.begun
        self._write(f"{self.name}: {summary}, {seconds:.1f} s", last=True)

    def _line(self, info: dict[str, Any], seconds: float) -> str:
        full = int(self.done * _WIDTH)
        bar = "#" * full + "-" * (_WIDTH - full)
        run = f" run {info['run'] + 1}/{info['n_runs']}," if info["n_runs"] > 1 else ""
        error = info.get("relative_error")
        reached = f", error {error:.4f}" if error is not None else ""
        left = f", {seconds * (1 / self.done - 1):.0f} s left" if seconds > 2 and self.done > 0.05 else ""
        return f"{self.name} [{bar}] {info['method']},{run} iteration {info['n_iter']}{reached}{left}"

    def _write(self, line: str, last: bool = False) -> None:
        if self.redraws:
            self.stream.write("\r" + line.ljust(self.length) + ("\n" if last else ""))
            self.length = len(line)
        else:
            self.stream.write(line + "\n")
        self.stream.flush()
