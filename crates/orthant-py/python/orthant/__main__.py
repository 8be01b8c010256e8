"""The command `orthant`, also as ``python -m orthant``."""

from __future__ import annotations

import signal
import sys

from . import _orthant


def main() -> None:
    """Do what the command line says, and end with the program's code."""
    # The program hears Ctrl-C itself; Python would only raise it once everything is over.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_orthant.program(["orthant", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
