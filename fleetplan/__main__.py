"""``python -m fleetplan``, and what the command ``fleetplan`` runs."""

from __future__ import annotations

import signal
import sys


def run() -> None:
    """Run the command line; a Ctrl-C while it loads or leaves is one line, like any other."""
    try:
        from fleetplan.cli import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted before there was a result.\n")
        raise SystemExit(130) from None
    finally:
        # All has been said: a Ctrl-C while the interpreter leaves would only print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    run()
