#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the library, the CUDA module, the GPU tests and the benchmarks, and runs the tests; for a machine with a GPU,
# nvcc, CMake and nothing else:
#   tests/gpu/run.sh [BUILD_FOLDER] [STEP...]
# Steps; test, sanitize and ckks when none is named:
#   test       ctest
#   sanitize   compute-sanitizer over every kernel, small sizes; a line for each run as it ends, a table at the end
#   jit        the kernels as compiled for 8.0 and 8.9, which the driver translates from PTX for the GPU there is. It
#              builds them in BUILD_FOLDER/jit80 and jit89
#   ckks       CKKS's kernels: all against the CPU, the report of polykem-lab ckks; then the C API on the GPU. It builds
#              them in BUILD_FOLDER/ckks
# The steps of bench/cuda/run.sh (rates, bench, seong2021, frodo, lab) may be named here too, after others.
# POLYKEM_GPU_FAMILIES: only these, e.g. "mlkem" or "ntru frodokem640" (beginnings of families or names of sets).
# POLYKEM_GPU_ITEMS: items per set of the tests that take many (default 20000; FrodoKEM 2001).
# POLYKEM_GPU_VECTORS: a polykem_gpu_vectors of this version from a machine that has the libraries for it, with those
# libraries beside it; without it and without them the vectors of ACVP, Wycheproof and CCTV are skipped.
# POLYKEM_GPU_BUILT: not empty: BUILD_FOLDER/bin has what another machine has built; nothing is built here.
# POLYKEM_GPU_SANITIZE_SECONDS: the longest that one run of compute-sanitizer may take (default 300).
# CUDA_VISIBLE_DEVICES chooses the GPUs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build-gpu}
shift || true
steps=${*:-test sanitize ckks}
data=$root/tests/data
families=${POLYKEM_GPU_FAMILIES:-ntru mlkem frodokem saberkem lac hybrid mldsa}
families=${families//,/ }
failed=no
export POLYKEM_COMMIT=${POLYKEM_COMMIT:-$(git -C "$root" describe --always --dirty --abbrev=12 2>/dev/null || true)}

. "$root/bench/cuda/result.sh"

build_ckks() {
  cmake -S "$root/ckks" -B "$build/ckks" -DPOLYKEM_CKKS_CUDA=ON -DPOLYKEM_BUILD_BENCH=ON \
    -DPOLYKEM_BUILD_EXAMPLES=OFF -DPOLYKEM_COMMIT="$POLYKEM_COMMIT" >"$build.ckks.log" 2>&1 &&
    cmake --build "$build/ckks" -j "$(nproc)" >>"$build.ckks.log" 2>&1 || {
    tail -n 40 "$build.ckks.log"
    return 1
  }
}

build_all() {
  cmake -S "$root/tests/gpu" -B "$build" -DPOLYKEM_CUDA=ON -DPOLYKEM_COMMIT="$POLYKEM_COMMIT" \
    -DPOLYKEM_GPU_VECTORS="${POLYKEM_GPU_VECTORS:-}" >"$build.log" 2>&1 || {
    tail -n 20 "$build.log"
    exit 1
  }
  cmake --build "$build" -j "$(nproc)" >>"$build.log" 2>&1 || {
    grep -E -A5 'error|FAILED' "$build.log" | head -n 40
    exit 1
  }
}
[[ -n ${POLYKEM_GPU_BUILT:-} || $steps == ckks ]] || build_all

# sanitize_one TOOL KERNELS ITEMS TESTS SETS: one run, its verdict as a line, its output in a file. KERNELS:
# POLYKEM_GPU_KERNELS, "-" for none
sanitize_one() {
  local log=$build/sanitize/$1.$2.$3.$5.log verdict=ok status=0 said begun=$SECONDS
  [[ $2 == - ]] || export POLYKEM_GPU_KERNELS=$2
  local program=("$build/bin/polykem_gpu_check" "$4" "$data" "$5")
  [[ $4 != signatures ]] || program=(env "POLYKEM_GPU_FAMILIES=$5" "$build/bin/polykem_gpu_signatures")
  [[ $4 != lab ]] || program=("$build/bin/polykem-lab" --on cuda --check --items "$3" --problem "$5")
  POLYKEM_GPU_ITEMS=$3 timeout "${POLYKEM_GPU_SANITIZE_SECONDS:-300}" compute-sanitizer --tool "$1" \
    --error-exitcode 9 "${program[@]}" >"$log" 2>&1 || status=$?
  said=$(sed -n 's/^========= .*SUMMARY: //p' "$log" | tail -n 1)
  [[ $status == 0 && -n $said ]] || verdict=FAILED
  [[ $status != 124 ]] || verdict=TIMEOUT
  [[ $status != 77 ]] || verdict=NO_GPU
  printf '%-8s %-9s %-4s %-17s %3d s  %s\n' "$verdict" "$1" "$2" "$5" $((SECONDS - begun)) "${said:-$4}" |
    tee -a "$build/sanitize/verdicts"
  [[ $verdict == ok ]] || tail -n 20 "$log"
  [[ $verdict == ok ]]
}
export -f sanitize_one
export build data

# The sets of a family; each has kernels of its own.
sets_of() {
  case "$1" in
    ntru) echo ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 ;;
    mlkem) echo mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 ;;
    kyber) echo kyber512 kyber768 kyber1024 ;;
    frodo | frodokem) echo frodokem{640,976,1344}{aes,shake} efrodokem{640,976,1344}{aes,shake} ;;
    saberkem) echo lightsaber saber firesaber ;;
    efrodokem) echo efrodokem{640,976,1344}{aes,shake} ;;
    lac) echo lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix ;;
    hybrid) echo x25519mlkem768 mlkem768x25519 ;;
    mldsa) echo mldsa44 mldsa65 mldsa87 ;;
    *) echo "$1" ;;
  esac
}

# The runs of `sanitize`, a line each: the arguments of sanitize_one. A few items reach every kernel of ML-KEM,
# FrodoKEM and Saber, since the form for many can be asked for. FrodoKEM's kernels are the same for all n, and those of
# hashing for AES and SHAKE; racecheck follows each of the 6.6 million look-ups that the smallest A takes with AES, so
# that it gets one item of that set.
sanitizer_runs() {
  local family set tool kernels
  for family in $families; do
    for set in $(sets_of "$family"); do
      case "$set" in
        *frodo*)
          [[ $set != frodokem640aes ]] || echo racecheck many 1 kernels "$set"
          for kernels in few many; do
            case "$set" in
              frodokem640shake | frodokem976shake) echo racecheck $kernels 3 kernels,keysets "$set" ;;
            esac
            case "$set" in
              frodo*) echo memcheck $kernels 9 kat,kernels,replay,keysets,arrays "$set" ;;
              *) echo memcheck $kernels 3 kat,kernels "$set" ;;
            esac
          done
          ;;
        lac*) # their kernels are the same for few and many items
          echo memcheck - 33 kat,differential,replay,keysets,arrays "$set"
          echo racecheck - 33 kat,differential "$set"
          ;;
        mldsa*)
          for kernels in few many; do
            echo memcheck $kernels 33 signatures "$set"
            echo racecheck $kernels 3 signatures "$set"
          done
          ;;
        *kem* | kyber* | *saber)
          for kernels in few many; do
            echo memcheck $kernels 33 kat,differential,replay,keysets,seeds,malformed,arrays "$set"
            echo racecheck $kernels 33 kat,differential,keysets,malformed "$set"
          done
          ;;
        *) # from 384 items on key generation multiplies a batch together, from 2,049 on parts share streams
          echo memcheck - 33 kat,replay,keysets,seeds,malformed,arrays "$set"
          echo memcheck - 2100 differential "$set"
          echo racecheck - 33 kat,keysets,malformed "$set"
          echo racecheck - 2100 randomness "$set"
          ;;
      esac
    done
  done
  for tool in memcheck racecheck; do
    for set in $(problems_of_families); do
      echo "$tool" - 2 lab "$set"
    done
  done
}

# Products of research/lab that have kernels of their own.
problems_of_families() {
  [[ " $families " != *" ntru "* ]] || echo ntru509 ntru821
  [[ " $families " != *" mlkem "* ]] || echo kyber256
  [[ " $families " != *" frodokem "* ]] || echo tensorfro560
  [[ " $families " != *" saberkem "* ]] || echo saber256
  [[ " $families " != *" lac "* ]] || echo lac512
}

# What `sanitize` did so far, by tool and form of the kernels.
sanitize_summary() {
  awk '{ key = $2 " " $3; runs[key]++; good[key] += $1 == "ok"
         seconds[key] += $5; if ($5 > most[key]) most[key] = $5 }
       END { printf "%-14s %5s %5s %7s %8s %8s\n", "tool, kernels", "runs", "ok", "not ok", "seconds", "longest"
             for (key in runs) printf "%-14s %5d %5d %7d %8d %8d\n", key, runs[key], good[key],
               runs[key] - good[key], seconds[key], most[key] }' "$build/sanitize/verdicts"
}

# Several at a time, since each mostly waits for one CPU core; racecheck first, which takes longer.
sanitize() {
  local begun=$SECONDS runs
  runs=$(sanitizer_runs | sort -r -s -k 1,1)
  rm -rf "$build/sanitize"
  mkdir -p "$build/sanitize"
  touch "$build/sanitize/verdicts"
  xargs -P "$((($(nproc) + 1) / 2))" -L 1 bash -c 'sanitize_one "$@"' sanitize_one \
    <<<"$runs" || failed=yes
  sanitize_summary
  echo "compute-sanitizer: $(wc -l <"$build/sanitize/verdicts") of $(wc -l <<<"$runs") runs" \
    "in $((SECONDS - begun)) s"
}

# Known answers and the CPU's results, with modules that have no machine code for this GPU.
jit() {
  local arch family set good=yes
  for arch in 80 89; do
    if [[ -z ${POLYKEM_GPU_BUILT:-} ]]; then
      { cmake -S "$root/tests/gpu" -B "$build/jit$arch" -DPOLYKEM_CUDA=ON -DPOLYKEM_CUDA_ARCHS="$arch" \
        -DPOLYKEM_CUDA_PTX=ON && cmake --build "$build/jit$arch" -j "$(nproc)" --target polykem_cuda; } \
        >"$build.jit.log" 2>&1 || {
        tail -n 40 "$build.jit.log"
        return 1
      }
    fi
    for family in $families; do
      for set in $(sets_of "$family"); do
        echo "compiled for $arch: $set"
        jit_one "$arch" "$set" || good=no
      done
    done
  done
  [[ $good == yes ]]
}

# jit_one ARCH SET
jit_one() {
  local -x POLYKEM_CUDA_MODULE=$build/jit$1/bin/libpolykem_cuda.so CUDA_CACHE_PATH=$build/jit_cache
  local -x POLYKEM_GPU_ITEMS=1001
  case "$2" in
    mldsa*) POLYKEM_GPU_FAMILIES=$2 "$build/bin/polykem_gpu_signatures" ;;
    *) "$build/bin/polykem_gpu_check" kat,differential "$data" "$2" ;;
  esac
}

for step in $steps; do
  case "$step" in
    jit)
      jit || failed=yes
      ;;
    test)
      (cd "$build" && ctest --output-on-failure) || failed=yes
      grep -E '^(skipped )?M(PS|IG)[:,]' "$build/Testing/Temporary/LastTest.log" || true # what the machine has
      ;;
    sanitize)
      sanitize
      ;;
    rates | bench | seong2021 | frodo | lab)
      POLYKEM_GPU_BUILT=yes "$root/bench/cuda/run.sh" "$build" "$step" || failed=yes
      ;;
    ckks)
      rm -f "$build/results/ckks/ckks.json"
      { [[ -n ${POLYKEM_GPU_BUILT:-} ]] || build_ckks; } &&
        "$build/ckks/bin/polykem_gpu_ckks" check &&
        "$build/ckks/bin/polykem-lab" ckks --report "$build/results/ckks" &&
        "$build/ckks/bin/polykem_gpu_ckks_api" all "$(result ckks_api.json)" || failed=yes
      if [[ -f $build/results/ckks/ckks.json ]]; then # also what it measured before it was ended
        cp "$build/results/ckks/ckks.json" "$(result ckks.json)" || failed=yes
      fi
      ;;
    *)
      echo "run.sh: no step '$step'; there are test, sanitize, jit, rates, bench, seong2021, frodo, lab and ckks" >&2
      exit 2
      ;;
  esac
done
[[ $failed == no ]]
