# SPDX-License-Identifier: Apache-2.0
"""A folder in which polykem-bulk is called."""

import pytest

pytest.importorskip("pyarrow")
from bulk_support import Place  # noqa: E402


@pytest.fixture
def place(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = Place(tmp_path, capfd)
    place("new-key", "key")
    return place
