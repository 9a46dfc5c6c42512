#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The part of tools/arm64/test.sh that `make test` runs: one program, tests/arm64/short, cross-built without the
# libraries of a sysroot and run under qemu-user, as the CPU `max` and as a Cortex-A53, which has no SHA3. A line
# "NAME ... ok" or "NAME ... FAIL" for each run.
#
#   tools/arm64/test_short.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
launcher=()
if command -v ccache >/dev/null 2>&1; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

cmake -S tests/arm64/short -B "$build" -G Ninja --toolchain "$PWD/cmake/arm64.cmake" "${launcher[@]}"
cmake --build "$build" -j "${JOBS:-$(nproc)}"
python3 -B tests/embedded/cases.py "$build" --counts 1 --no-accumulated

failed=0
# run CPU SET...: the known answers of those sets.
run() {
  local cpu=$1 files
  shift
  files=("${@/#/$build/}")
  if QEMU_CPU=$cpu qemu-aarch64 "$build/arm64_short" "${files[@]/%/.cases}"; then
    echo "$cpu: $* ... ok"
  else
    echo "$cpu: $* ... FAIL"
    failed=1
  fi
}
run max mlkem512 mlkem768 mlkem1024 ntruhrss701 frodokem640aes
run cortex-a53 ntruhps2048509 ntruhrss701 frodokem640shake frodokem640aes
exit $failed
