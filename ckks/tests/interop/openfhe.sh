#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# openfhe.sh TOOL: exchanges files with OpenFHE in both directions. Ends with 77 where venv.sh finds no Python that has
# it.
set -euo pipefail
cd "$(dirname "$0")"
python=$(./venv.sh) || exit
"$python" -c "import importlib.metadata as m; print('OpenFHE', m.version('openfhe'))"
exec "$python" openfhe_files.py "$1"
