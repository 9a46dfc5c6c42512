#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ruff.sh ARGUMENT...: Ruff, which goes into .venv-lint beside the root Makefile, the first time from PyPI. Ends with 77
# where it cannot be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.14.5
venv=$PWD/.venv-lint
if [[ ! -e $venv/ruff-$version ]]; then
  python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "ruff==$version" || {
    echo "Ruff: SKIPPED, the Python code is not checked. It could not be installed into $venv (is there a network?)" >&2
    exit 77
  }
  touch "$venv/ruff-$version"
fi
exec "$venv/bin/ruff" "$@"
