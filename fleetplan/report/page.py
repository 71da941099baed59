"""The report as one HTML page that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from fleetplan.report import decision, titles
from fleetplan.report.bundle import vega_bundle
from fleetplan.report.charts import all_charts
from fleetplan.report.contents import Contents, contents
from fleetplan.report.embedded import embedded, script_json
from fleetplan.report.grammar import FREE_CLASSES, PART_COLOURS, SERVED_CLASSES, Chart, class_labels
from fleetplan.report.palette import palette
from fleetplan.report.sections import sections
from fleetplan.report.source import ReportSource
from fleetplan.report.spark import sparkline
from fleetplan.version import __version__

if TYPE_CHECKING:
    from fleetplan.explain.explanation import Explanation
    from fleetplan.plan.plan import Plan

_TEMPLATES = files("fleetplan.report") / "templates"


def report_html(plan: Plan, explanation: Explanation | None = None) -> str:
    """Write a plan's whole report as one self-contained HTML page.

    ``explanation`` (of :func:`fleetplan.explain.explain`) fills the sections on what binds, why not,
    ties, what turns and the horizon; without it they say what was not asked.
    """
    return page(contents(plan, explanation))


def page(made: Contents, *, for_print: bool = False) -> str:
    """Write the page from prepared contents; ``for_print`` draws all at once, for a printer that does not wait."""
    source, tables = made.source, made.tables
    charts = all_charts(source)
    colours = palette(source.in_use("accelerator"))
    script = _text("report.js")
    bundle = vega_bundle()
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            source=source,
            decision=decision,
            titles=titles,
            sections=list(sections(source, tuple(t.name for t in made.inputs))),
            charts=charts,
            tables={t.name: t for t in tables},
            accelerators=colours,
            keys={
                "accelerator": [(colours[n], source.title("accelerator", n), n) for n in colours],
                "part": [(colour, name, "") for name, colour in PART_COLOURS.items()],
                "free": [(*item, "") for item in class_labels(FREE_CLASSES)],
                "served": [(*item, "") for item in class_labels(SERVED_CLASSES)],
            },
            sites=source.in_use("site"),
            workloads=source.in_use("workload"),
            style=Markup(_text("report.css")),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            bundle=Markup(bundle),  # noqa: S704 - the charting library
            data=script_json(_page_data(made, charts, for_print=for_print)),
            manifest=_manifest_rows(source),
            manifest_json=script_json(source.plan.manifest.to_json()),
            hashes=" ".join(_hash(text) for text in (bundle, script)),
            version=__version__,
        )
    )


def _page_data(made: Contents, charts: Mapping[str, Chart], *, for_print: bool) -> dict[str, Any]:
    source, horizon = made.source, made.source.scenario.horizon
    return {
        "print": for_print,
        "tables": embedded(made.tables, packed=not for_print),
        "charts": {name: _chart_entry(chart) for name, chart in charts.items()},
        "titles": source.titles,
        "accelerators": source.in_use("accelerator"),
        "causes": {kind: source.in_use(kind) for kind in ("site", "accelerator", "workload")},
        "start": horizon.start.ordinal,
        "periods": [p.name for p in horizon],
        "lengths": list(horizon.lengths),
    }


def _chart_entry(chart: Chart) -> dict[str, Any]:
    """A chart for the page, compiled to Vega here, so that the page has less to do."""
    import vl_convert

    return {
        "vega": vl_convert.vegalite_to_vega(chart.spec),
        "steps": isinstance(chart.spec.get("height"), dict),
        "datasets": {
            name: {"table": d.table, "columns": d.columns, "only": {k: list(v) for k, v in d.only.items()}}
            for name, d in chart.datasets.items()
        },
        "choice": chart.period_choice,
    }


def _manifest_rows(source: ReportSource) -> Iterator[tuple[str, str]]:
    """Manifest entries as text, nested ones with a dot."""
    for key, value in source.manifest.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", str(item)) for inner, item in value.items())
        elif value is not None:
            yield key, str(value)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fleetplan.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["sparkline"] = sparkline
    return environment


def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Content-security hash of an inline script: only the two that we wrote may run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
