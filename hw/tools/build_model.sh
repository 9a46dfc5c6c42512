#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the program BUILD/TEST with the Verilated core. TEST is core_test, residue_test, fault_test, or trace, which is
# core_test that writes what every signal did. The parameters are those of polykem_top. Verilator builds nothing of the
# core again that is newer than its sources.
#
#   build_model.sh BUILD TEST [PARAMETER=VALUE...]
set -euo pipefail

hw=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "$1")
test=$2
parameters=("${@:3}")
verilator=$("$hw/tools/setup.sh")/verilator
mapfile -t sources <"$hw/rtl/files.f"
cd "$hw"
if command -v ccache >/dev/null; then export OBJCACHE=ccache; fi
include=$(echo "$(dirname "$verilator")"/../lib/python3*/site-packages/verilator/include)
case $test in
  core_test | residue_test)
    source=$test
    folder=$build/model
    define=POLYKEM_HW_SAVE
    options=(--savable)
    ;;
  fault_test)
    source=fault_test
    folder=$build/model_faults
    define=POLYKEM_HW_SAVE
    "$(dirname "$verilator")/python3" -B faults/flops.py "$folder" "${parameters[@]}"
    options=(--savable --vpi "$folder/flops.vlt")
    ;;
  trace)
    source=core_test
    folder=$build/model_trace
    define=POLYKEM_HW_TRACE
    options=(--trace-vcd --trace-structs sim/trace.vlt)
    ;;
  *)
    echo "build_model: no test '$test'; there are core_test, residue_test, fault_test and trace" >&2
    exit 2
    ;;
esac

# build COMMAND...: runs the command, and prints what it said only if it fails.
build() {
  "$@" >>"$folder.log" 2>&1 || {
    cat "$folder.log" >&2
    exit 1
  }
}
mkdir -p "$folder"
: >"$folder.log"
build "$verilator" --cc --build -j 1 -Wall -O3 --assert --x-assign fast --x-initial unique --top-module polykem_top \
  --Mdir "$folder" -CFLAGS "-O1 -std=c++20" "${options[@]}" "${parameters[@]/#/-G}" synth/lint.vlt "${sources[@]}"
build c++ -O1 -std=c++20 "-D$define" -Isim -isystem "$include" -isystem "$include/vltstd" -isystem "$folder" \
  sim/simulation.cpp "tb/core/$source.cpp" "$folder/libVpolykem_top.a" "$folder/libverilated.a" -pthread \
  -o "$build/$test"
