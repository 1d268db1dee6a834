"""The code that pages of docs/ show, so that tests run it as it is written there."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def block(page, language, replaced, number=0):
    """A block of a language on a page, the first is 0, with what a test has to give for what the reader chooses."""
    code = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)[number]
    for shown, given in replaced.items():
        assert shown in code, f"{page}: found no {shown!r} in its block of {language}"
        code = code.replace(shown, given)
    return code
