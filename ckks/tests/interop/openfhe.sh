#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# openfhe.sh TOOL: exchanges files with OpenFHE in both directions. Ends with 77 where there is no Python that has it:
# POLYKEM_OPENFHE_PYTHON names one (openfhe 1.6.1 of PyPI has a library for CPython 3.10 on x86-64 only).
set -euo pipefail
cd "$(dirname "$0")"
python=${POLYKEM_OPENFHE_PYTHON:-python3}
if ! version=$("$python" -c "import importlib.metadata as m, openfhe; print(m.version('openfhe'))" 2>/dev/null); then
  echo "skipped: $python has no OpenFHE; pip install openfhe==1.6.1.* for a CPython 3.10, and name it by" \
    "POLYKEM_OPENFHE_PYTHON"
  exit 77
fi
echo "OpenFHE $version"
exec "$python" openfhe_files.py "$1"
