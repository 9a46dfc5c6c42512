# SPDX-License-Identifier: Apache-2.0
import sys

from folders import ROOT

sys.path.append(str(ROOT / "python" / "tests"))  # memory_search
