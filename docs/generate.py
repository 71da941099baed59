"""Write the generated pages of this folder; tests hold that they are current."""

from pathlib import Path

from fleetplan.inputs.reference import inputs_page
from fleetplan.inputs.rules import rules_page

HERE = Path(__file__).resolve().parent
PAGES = {"rules.md": rules_page, "inputs.md": inputs_page}


def main() -> None:
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
