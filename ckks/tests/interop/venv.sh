#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# venv.sh: prints a Python that has OpenFHE 1.6: the one that POLYKEM_OPENFHE_PYTHON names, or that of .venv-openfhe
# beside the root Makefile, which it makes the first time of a CPython 3.10 (the package of PyPI has a library for that,
# on x86-64, only). Ends with 77 where that is not possible, and says why.
set -euo pipefail
venv=$(cd "$(dirname "$0")/../../.." && pwd)/.venv-openfhe

has_openfhe() { "$1" -c 'import openfhe, numpy' 2>/dev/null; }

if [[ -n ${POLYKEM_OPENFHE_PYTHON:-} ]]; then
  has_openfhe "$POLYKEM_OPENFHE_PYTHON" || {
    echo "$POLYKEM_OPENFHE_PYTHON, which POLYKEM_OPENFHE_PYTHON names, has no OpenFHE: pip install openfhe==1.6.1.*" >&2
    exit 77
  }
  echo "$POLYKEM_OPENFHE_PYTHON"
  exit
fi
mkdir -p "$venv"
exec 9>"$venv/lock"
flock 9
if ! has_openfhe "$venv/bin/python"; then
  {
    python3.10 -m venv "$venv" &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check 'openfhe==1.6.1.*' numpy &&
      has_openfhe "$venv/bin/python"
  } >&2 || {
    echo "no OpenFHE: $venv cannot be made (it needs CPython 3.10 on x86-64 and a network), and" \
      "POLYKEM_OPENFHE_PYTHON names none" >&2
    exit 77
  }
fi
echo "$venv/bin/python"
