# SPDX-License-Identifier: Apache-2.0
import polykem
import pytest


@pytest.fixture(scope="session")
def ctx():
    with polykem.Context(threads=2) as context:
        yield context
