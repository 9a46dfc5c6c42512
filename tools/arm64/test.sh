#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Cross-builds for AArch64 (build-arm64) and tests under qemu-user: on the CPU `max`, which has all extensions, and on a
# Cortex-A53, which has no SHA3.
set -euo pipefail
cd "$(dirname "$0")/../.."
build="build-arm64"
jobs=${JOBS:-$(nproc)}
tests=(aes aes128 bch frodo keccak lac matmul mlkem ntru ntt polyinv polymul saber sha256 sort)
programs=("${tests[@]/#/lanes_}")
programs=("${programs[@]/%/_test}" prim_test drbg_test keys_test item_status_test property_test capi_test threads_test
          kat_test mldsa_arithmetic_test mldsa_requests_test mldsa_limits_test mldsa_vectors_test
          mldsa_accumulated_test)

tools/arm64/sysroot.sh $build/sysroot
libraries=$PWD/$build/sysroot/usr/lib/aarch64-linux-gnu:$PWD/$build/sysroot/lib/aarch64-linux-gnu
cmake --preset arm64 -B $build ${CCACHE:+-DCMAKE_CXX_COMPILER_LAUNCHER=$CCACHE} >/dev/null
cmake --build $build -j "$jobs" --target "${programs[@]}" arm64_trace polykem \
  polykem_shared polykem_proofs

# Left out: the sets that wait for test-full; a test of masked CPU features, which runs below; two tests of a page that
# a child finds empty (MADV_WIPEONFORK), which qemu-user 7.2 promises and does not give.
left_out='Full/*:Full.*:*AMaskedCpuFeature*:ForkGeneration.ChangesInEveryChild'
left_out+=':DrbgFork.AChildOfTheSameProcessIdDrawsItsOwnNumbers'

# emulate CPU COMMAND...: the path is for libraries of the program's libraries.
emulate() {
  QEMU_CPU=$1 qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$libraries" "${@:2}"
}

# The words of `polykem doctor`, among which it must say that it is emulated, unless this machine is AArch64 too.
doctor() {
  local said
  said=$(emulate "$1" $build/bin/polykem doctor) && echo "$said" &&
    [[ $(uname -m) == aarch64 || $said == *$'\n'emulation* ]]
}

# What takes seconds of the proofs about NEON's code; 77 where their tools cannot be fetched.
proofs() {
  tools/prove.sh --library $build/src/libpolykem.so --faults --cpu 'mlkem neon transform' 'mlkem neon inverse' \
    'mlkem neon compress' 'mldsa neon transform' 'mldsa neon inverse' 'frodo neon product' 'ntru neon product 509' \
    'saber neon block product 2'
}

failed=0
# run CPU NAME COMMAND...: prints one line, and what the command said if it failed.
run() {
  local cpu=$1 name=$2
  shift 2
  report "$cpu" "$name" emulate "$cpu" "$@"
}
report() {
  local cpu=$1 name=$2 log begin=$SECONDS status=0 verdict=ok
  shift 2
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [[ $status == 0 ]] || verdict=FAILED
  [[ $status != 77 ]] || verdict=skipped
  printf '%-12s %-28s %-7s %4d s\n' "$cpu" "$name" $verdict $((SECONDS - begin))
  [[ $verdict == ok ]] || cat "$log"
  [[ $verdict != FAILED ]] || failed=1
  rm -f "$log"
}

for cpu in max cortex-a53; do
  for program in "${programs[@]}"; do
    run $cpu "$program" $build/bin/"$program" --gtest_brief=1 --gtest_filter="-$left_out"
  done
  report $cpu "polykem doctor" doctor $cpu
done
report - "proofs of machine code" proofs
python3 -B tests/arm64/trace.py $build/bin/arm64_trace || failed=1
POLYKEM_CPU_MASK=sha3 run max "capi_test without sha3" $build/bin/capi_test --gtest_brief=1
POLYKEM_CPU_MASK=aes run max "capi_test without aes" $build/bin/capi_test --gtest_brief=1
POLYKEM_CPU_MASK=aes run max "kat_test without aes" $build/bin/kat_test --gtest_brief=1 --gtest_filter=-Full/*
exit $failed
