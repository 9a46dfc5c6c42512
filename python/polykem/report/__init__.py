# SPDX-License-Identifier: Apache-2.0
"""One HTML file about this machine and polykem: `polykem-report`, or `python -m polykem.report`.

collect.py measures and keeps JSON; documents.py reads it into records; sections.py makes charts of them (charts.py);
svg.py and page.py draw. Nothing but Python's standard library is needed.
"""

from .command import build, main

__all__ = ["build", "main"]


def __dir__() -> list[str]:
    return __all__
