#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# venv.sh: prints a Python that has what the tests of the package need (requirements.txt, from PyPI), which it installs
# the first time into .venv-python beside the root Makefile. Ends with 77 where that is not possible, and says why.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=$(cd "$here/../.." && pwd)/.venv-python

mkdir -p "$venv"
exec 9>"$venv/lock"
flock 9
if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
  {
    python3 -m venv "$venv" &&
      "$venv/bin/pip" install --quiet --no-compile --disable-pip-version-check --prefer-binary \
        -r "$here/requirements.txt" &&
      cp "$here/requirements.txt" "$venv/installed"
  } >&2 || {
    echo "no environment for the tests of Python: $venv cannot be made (is there a network, and python3-venv?)" >&2
    exit 77
  }
fi
echo "$venv/bin/python"
