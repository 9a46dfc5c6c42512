# SPDX-License-Identifier: Apache-2.0
"""Lets the tests import the tools that they test."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools/package"
sys.path.insert(0, str(TOOLS))
