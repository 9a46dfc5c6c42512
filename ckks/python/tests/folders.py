# SPDX-License-Identifier: Apache-2.0
"""Where the repository is, and CKKS's data."""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "ckks" / "tests" / "data"
