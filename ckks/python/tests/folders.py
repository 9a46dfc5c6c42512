# SPDX-License-Identifier: Apache-2.0
"""The folders of the repository and of CKKS's test data."""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "ckks" / "tests" / "data"
