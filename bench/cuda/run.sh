#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the CUDA module and its benchmarks, and measures; for a machine with a GPU, nvcc, CMake and nothing else:
#   bench/cuda/run.sh [BUILD_FOLDER] [STEP...]
# Steps; rates and bench when none is named:
#   rates      what each unit of the GPU does at best, from which floors are computed
#   bench      the tables of docs/gpu_figures.md
#   seong2021  the report of research/seong2021
#   frodo      the report and the plots of research/frodo_cuda
#   lab        the report of research/lab, every way to multiply; its plots where python3 has matplotlib
# They write to BUILD_FOLDER/results, under the names of bench/results: h200_mlkem.json on an H200, for example. Copy
# them there to keep them; `make tables` then writes the tables of the pages.
# POLYKEM_GPU_FAMILIES: only these, e.g. "mlkem" or "ntru frodokem640" (beginnings of families or names of sets).
# POLYKEM_GPU_BUILT: not empty: BUILD_FOLDER/bin has everything; nothing is built here.
# CUDA_VISIBLE_DEVICES chooses the GPUs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build-gpu}
shift || true
steps=${*:-rates bench}
families=${POLYKEM_GPU_FAMILIES:-ntru mlkem frodokem saberkem lac hybrid mldsa}
families=${families//,/ }
failed=no
export POLYKEM_COMMIT=${POLYKEM_COMMIT:-$(git -C "$root" describe --always --dirty --abbrev=12 2>/dev/null || true)}
. "$root/bench/cuda/result.sh"

target_of() {
  case "$1" in
    rates) echo polykem_bench_gpu_rates ;;
    bench) echo polykem_bench_cuda ;;
    seong2021) echo polykem_bench_seong2021 ;;
    frodo) echo polykem_bench_frodo_cuda ;;
    lab) echo lab ;;
    *)
      echo "run.sh: no step '$1'; there are rates, bench, seong2021, frodo and lab" >&2
      return 2
      ;;
  esac
}

# The GPU's tests and benchmarks are one CMake project; this builds what the steps need of it.
build_targets() {
  local log=$build.log
  { cmake -S "$root/tests/gpu" -B "$build" -DPOLYKEM_CUDA=ON -DPOLYKEM_COMMIT="$POLYKEM_COMMIT" &&
    cmake --build "$build" -j "$(nproc)" --target polykem_cuda "$@"; } >"$log" 2>&1 || {
    grep -E -A5 'error|FAILED' "$log" | head -n 40 || tail -n 20 "$log"
    return 1
  }
}

# bench NAME ARGUMENTS...
bench() {
  local name=$1
  shift
  "$build/bin/polykem_bench_cuda" "$@" --json "$(result "$name.json")" || failed=yes
}

bench_family() {
  case "$1" in
    ntru)
      bench ntru --family ntru
      bench ntru_run2 --family ntru
      bench ntru_400000 --family ntru --items 400000
      ;;
    mlkem | kyber)
      bench mlkem --family mlkem --shared
      bench mlkem_500000 --family mlkem --items 500000 --kernels
      ;;
    frodokem | efrodokem)
      bench frodokem --family frodokem --shared
      bench frodokem_one_key --scheme frodokem976shake --scheme frodokem976aes --items 101376 --shared --kernels
      ;;
    saberkem)
      bench saber --family saberkem --shared
      bench saber_500000 --family saberkem --items 500000 --kernels
      ;;
    lac)
      bench lac --family lac --shared
      bench lac_500000 --family lac --items 500000 --kernels
      ;;
    mldsa) bench mldsa --family mldsa --shared ;;
    hybrid) bench hybrid --scheme x25519mlkem768 --scheme mlkem768x25519 --shared ;;
    *) bench "$1" --scheme "$1" --shared ;;
  esac
}

run_step() {
  local family
  case "$1" in
    rates) "$build/bin/polykem_bench_gpu_rates" --json "$(result gpu_rates.json)" || failed=yes ;;
    bench)
      for family in $families; do
        bench_family "$family"
      done
      ;;
    seong2021) "$build/bin/polykem_bench_seong2021" "$(result seong2021.json)" || failed=yes ;;
    frodo)
      "$build/bin/polykem_bench_frodo_cuda" --json "$(result frodo_paper.json)" --svg "$(result frodo_paper.svg)" ||
        failed=yes
      ;;
    lab)
      if "$build/bin/polykem-lab" --report "$build/results/lab"; then
        cp "$build/results/lab/lab.json" "$(result lab.json)" || failed=yes
      else # what it measured before it was ended is in the folder
        failed=yes
      fi
      ;;
  esac
}

targets=()
for step in $steps; do
  targets+=("$(target_of "$step")")
done
[[ -n ${POLYKEM_GPU_BUILT:-} ]] || build_targets "${targets[@]}"
# The results name these sources.
sources=$(cmake -P "$root/cmake/build_info.cmake")
grep -q -a "${sources##* }" "$build/bin/libpolykem_cuda.so" || {
  echo "run.sh: $build/bin/libpolykem_cuda.so was built from other sources than those in $root" >&2
  exit 1
}
for step in $steps; do
  run_step "$step"
done
[[ $failed == no ]]
