"""Makes the writer of test traces importable; tests are collected without packages."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
