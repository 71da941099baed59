"""The catalog: accelerators and models by name, and what is known of each figure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fleetplan.errors import InputError
from fleetplan.figures import Figure
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.accelerator_file import FACT, FIELDS, Override, read_accelerator
from fleetplan.inputs.names import did_you_mean
from fleetplan.inputs.paths import data_dir, models_dir
from fleetplan.inputs.rules import Place, fault

if TYPE_CHECKING:
    from fleetplan.inputs.architecture import Model

CatalogRow = dict[str, str]
"""One line of ``fleetplan catalog``: the keys are :data:`CATALOG_COLUMNS`."""
CATALOG_COLUMNS = ("accelerator", "field", "value", "low", "high", "unit", "status", "source", "date", "note")


def accelerator_names() -> list[str]:
    """Names of the catalog's accelerators, sorted."""
    return sorted(path.stem for path in (data_dir() / "accelerators").glob("*.csv"))


def model_names() -> list[str]:
    """Names of the models in ``models/``, sorted."""
    return sorted(path.stem for path in models_dir().glob("*.yaml"))


def load_accelerator(
    name_or_path: str | Path, overrides: Mapping[str, Override] | None = None
) -> Accelerator:
    """Load an accelerator by name, alias (``gb200-nvl72``) or path of a CSV file.

    ``overrides`` put a quantity with its unit (``"2.9 MUSD"``), a number in the field's unit or a
    whole ``Figure`` in the place of the catalog's figure. Raises ``InputError`` with every fault;
    an unknown name comes with the nearest known one.
    """
    if _is_path(name_or_path, ".csv"):
        path = Path(name_or_path)
        return read_accelerator(path, str(name_or_path), path.stem, overrides)
    name = _resolve(str(name_or_path))
    path = data_dir() / "accelerators" / f"{name}.csv"
    if not overrides:
        return _cached_accelerator(name, path)
    return read_accelerator(path, f"data/accelerators/{name}.csv", name, overrides)


def load_model(name_or_path: str | Path) -> Model:
    """Load a model by name or path of a YAML file. Raises ``InputError`` with every fault."""
    from fleetplan.inputs.model_file import read_model

    if _is_path(name_or_path, ".yaml", ".yml"):
        return read_model(Path(name_or_path), str(name_or_path))
    known = _model_aliases(models_dir())
    name = str(name_or_path)
    if name not in known:
        place = Place("models", field=name)
        raise InputError(fault("E007", place, f"model {name!r} is not known", did_you_mean(name, known)))
    return _cached_model(known[name], models_dir() / f"{known[name]}.yaml")


def catalog_table(name: str | None = None) -> list[CatalogRow]:
    """Rows of one accelerator, or of all: what is known of each figure, and what nobody has published."""
    names = [name] if name else accelerator_names()
    rows: list[CatalogRow] = []
    for each in names:
        device = load_accelerator(each)
        ordered = [f for f in FIELDS if f in device.figures]
        facts = sorted(f for f in device.figures if f.startswith(FACT))
        rows.extend(_catalog_row(device.name, device.figures[f]) for f in [*ordered, *facts])
    return rows


def _catalog_row(device: str, figure: Figure) -> CatalogRow:
    unpublished = figure.value is None
    return {
        "accelerator": device,
        "field": figure.name,
        "value": "unpublished" if unpublished else _shown(figure.value),
        "low": _shown(figure.low),
        "high": _shown(figure.high),
        "unit": figure.unit,
        "status": "unpublished" if unpublished else figure.status,
        "source": figure.source,
        "date": figure.date,
        "note": figure.note,
    }


def _shown(value: float | str | None) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else value


def _is_path(name: str | Path, *suffixes: str) -> bool:
    return isinstance(name, Path) or name.endswith(suffixes)


def _resolve(name: str) -> str:
    """The catalog's own name of a device; names and aliases are the same in any case."""
    wanted = name.strip().lower()
    aliases = _aliases(data_dir() / "accelerators")
    if wanted in aliases:
        return aliases[wanted]
    place = Place("data/accelerators", field=name)
    raise InputError(
        fault("E007", place, f"accelerator {name!r} is not known", did_you_mean(wanted, aliases))
    )


@lru_cache(maxsize=4)
def _aliases(folder: Path) -> dict[str, str]:
    """Every name and alias by the catalog's own name."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.csv")):
        found[path.stem] = path.stem
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            field, _, rest = line.partition(",")
            if field == "aliases":
                found.update({alias.strip(): path.stem for alias in rest.split(",")[0].split("|")})
    return found


@lru_cache(maxsize=4)
def _model_aliases(folder: Path) -> dict[str, str]:
    """Every name and alias of a model by its file's name; an alias line is ``aliases: [a, b]``."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        found[path.stem] = path.stem
        for line in path.read_text(encoding="utf-8-sig").splitlines():
            key, _, rest = line.partition(":")
            if key == "aliases":
                found.update({alias.strip(): path.stem for alias in rest.strip(" []").split(",")})
    return found


@lru_cache(maxsize=64)
def _cached_model(name: str, path: Path) -> Model:
    from fleetplan.inputs.model_file import read_model

    return read_model(path, f"models/{name}.yaml")


@lru_cache(maxsize=64)
def _cached_accelerator(name: str, path: Path) -> Accelerator:
    return read_accelerator(path, f"data/accelerators/{name}.csv", name)
