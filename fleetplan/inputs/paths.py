"""Where the project's own data and models lie: beside the package in the tree, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def data_dir() -> Path:
    """Folder of ``accelerators/``, ``measurements/`` and ``scenarios/``."""
    return _home("data", "accelerators")


def models_dir() -> Path:
    """Folder of the model files, one YAML each."""
    return _home("models", "")


def _home(name: str, probe: str) -> Path:
    """In a wheel the folders are copied to ``fleetplan/_data``; the tree holds them at its root."""
    installed = _PACKAGE / "_data" / name
    in_tree = _PACKAGE.parent / name
    return installed if (installed / probe).is_dir() else in_tree
