# SPDX-License-Identifier: Apache-2.0
"""Which methods have been used since forget(), for the report of a claim."""

used: set[str] = set()


def forget() -> None:
    used.clear()
