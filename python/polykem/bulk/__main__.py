# SPDX-License-Identifier: Apache-2.0
"""python -m polykem.bulk"""

import sys

from .cli import main

sys.exit(main())
