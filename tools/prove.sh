#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# prove.sh ARGUMENT...: tools/prove.py with what it needs, which goes into .venv-prove beside the root Makefile, the
# first time from PyPI. Ends with 77 where it cannot be fetched.
# prove.sh --self-test: tests of the rules and of the instructions that proofs rest on.
# prove.sh --source-faults ARGUMENT...: tools/proofs/source_faults.py.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.venv-prove
if ! cmp -s "$root/tools/proofs/requirements.txt" "$venv/installed"; then
  {
    python3 -m venv "$venv" &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/tools/proofs/requirements.txt" &&
      cp "$root/tools/proofs/requirements.txt" "$venv/installed"
  } >&2 || {
    echo "prove: SKIPPED, nothing is proved. $venv cannot be made (is there a network, and python3-venv?)" >&2
    exit 77
  }
fi
if [[ ${1-} == --self-test ]]; then
  cd "$root/tests/tools"
  exec "$venv/bin/python" -B -m unittest discover -p 'test_proofs*.py'
fi
if [[ ${1-} == --source-faults ]]; then
  shift
  exec "$venv/bin/python" -B "$root/tools/proofs/source_faults.py" "$@"
fi
exec "$venv/bin/python" -B "$root/tools/prove.py" "$@"
