# SPDX-License-Identifier: Apache-2.0
"""Lets the tests import the tools that they test."""
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools/package"
sys.path.insert(0, str(TOOLS))
