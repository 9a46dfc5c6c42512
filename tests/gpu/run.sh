#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the library, the CUDA module, the GPU tests and the benchmarks, and runs them; for a machine with a GPU, nvcc,
# CMake and nothing else:
#   tests/gpu/run.sh [BUILD_FOLDER] [STEP...]
# Steps: test (ctest), sanitize (compute-sanitizer, small sizes), bench (JSON to BUILD_FOLDER/ntru_100000.json and
# ntru_400000.json), seong2021 (JSON to BUILD_FOLDER/seong2021.json); all when none is named. POLYKEM_GPU_ITEMS: items
# per set of the tests (default 20000). CUDA_VISIBLE_DEVICES chooses the GPUs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build-gpu}
shift || true
steps=${*:-test sanitize bench seong2021}
data=$root/tests/data
failed=no

cmake -S "$root/tests/gpu" -B "$build" -DPOLYKEM_CUDA=ON >"$build.log" 2>&1 || {
  tail -n 20 "$build.log"
  exit 1
}
cmake --build "$build" -j "$(nproc)" >>"$build.log" 2>&1 || {
  grep -E -A5 'error|FAILED' "$build.log" | head -n 40
  exit 1
}

for step in $steps; do
  case "$step" in
    test)
      (cd "$build" && ctest --output-on-failure) || failed=yes
      ;;
    sanitize)
      for set in ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373; do
        # From 384 items on key generation multiplies a batch together, from 2,049 on parts share streams.
        for run in "memcheck kat 33" "memcheck differential 2100" "memcheck replay 33" "memcheck keysets 33" \
          "memcheck arrays 33" "racecheck kat 33" "racecheck keysets 33" "racecheck randomness 2100"; do
          read -r tool test items <<<"$run"
          echo "compute-sanitizer $tool: $test $set"
          POLYKEM_GPU_ITEMS=$items compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$build/bin/polykem_gpu_check" "$test" "$data" "$set" 2>&1 | tail -n 6
          [[ ${PIPESTATUS[0]} == 0 ]] || failed=yes
        done
      done
      for tool in memcheck racecheck; do
        echo "compute-sanitizer $tool: every multiplier"
        POLYKEM_GPU_DEGREES=509,821 compute-sanitizer --tool "$tool" --error-exitcode 9 \
          "$build/bin/polykem_gpu_check" polymul "$data" 2>&1 | tail -n 2
        [[ ${PIPESTATUS[0]} == 0 ]] || failed=yes
      done
      ;;
    bench)
      for items in 100000 400000; do
        "$build/bin/polykem_bench_cuda_ntru" --items $items --json "$build/ntru_$items.json" || failed=yes
      done
      ;;
    seong2021)
      "$build/bin/polykem_bench_seong2021" "$build/seong2021.json" || failed=yes
      ;;
    *)
      echo "run.sh: no step '$step'; there are test, sanitize, bench and seong2021" >&2
      exit 2
      ;;
  esac
done
[[ $failed == no ]]
