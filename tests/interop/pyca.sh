#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# pyca.sh: prints a Python that has pyca/cryptography (PyPI; Apache-2.0 or BSD), which it installs the first time into
# .venv-pyca beside the root Makefile. Ends with 77 where that is not possible, and says why on standard error.
set -euo pipefail
venv=$(cd "$(dirname "$0")/../.." && pwd)/.venv-pyca
version=50.0.2

installed() { "$venv/bin/python" -c "import cryptography as c; assert c.__version__ == '$version'" 2>/dev/null; }

mkdir -p "$venv"
exec 9>"$venv/lock"
flock 9
if ! installed; then
  {
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "cryptography==$version"
  } >&2 || {
    echo "no pyca/cryptography: $venv cannot be made (is there a network, and python3-venv?)" >&2
    exit 77
  }
fi
echo "$venv/bin/python"
