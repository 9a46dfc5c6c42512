#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build_model.sh BUILD TEST [PARAMETER=VALUE...]: BUILD/TEST with the Verilated core: core_test, residue_test, or trace,
# which is core_test that writes what every signal did. The parameters are those of polykem_top. What is newer than its
# sources is left as it is.
set -euo pipefail

hw=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "$1")
test=$2
parameters=("${@:3}")
verilator=$("$hw/tools/setup.sh")/verilator
mapfile -t sources <"$hw/rtl/files.f"
cd "$hw"
if command -v ccache >/dev/null; then export CXX="ccache c++"; fi
flags="-O1 -std=c++20 -I$hw/sim"
source=$test
options=()
case $test in
  residue_test)
    flags+=" -DPOLYKEM_HW_SAVE"
    options=(--savable)
    ;;
  trace)
    flags+=" -DPOLYKEM_HW_TRACE"
    source=core_test
    options=(--trace-vcd --trace-structs sim/trace.vlt)
    ;;
esac

folder=$build/model_${test%_test}
mkdir -p "$folder"
"$verilator" --cc --exe --build -j 1 -Wall -O3 --assert --x-assign fast --top-module polykem_top --Mdir "$folder" \
  -CFLAGS "$flags" "${options[@]}" "${parameters[@]/#/-G}" synth/lint.vlt "${sources[@]}" sim/simulation.cpp \
  "tb/core/$source.cpp" -o "$build/$test" >"$folder.log" 2>&1 || {
  cat "$folder.log" >&2
  exit 1
}
