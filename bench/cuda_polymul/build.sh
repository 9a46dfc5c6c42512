#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the program of this folder without CMake:   bench/cuda_polymul/build.sh [OUTPUT] [ARCHITECTURE]
# OUTPUT is build/cuda_polymul, ARCHITECTURE sm_90 when not given. The compiler's report goes to OUTPUT.log; the build
# fails when a kernel spills registers or uses a stack frame.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
output=${1:-$root/build/cuda_polymul}
architecture=${2:-sm_90}
nvcc=$("$root/tools/cuda_toolchain.sh")
mkdir -p "$(dirname "$output")"
"$nvcc" -std=c++20 -O3 -arch="$architecture" -Xptxas -v -lineinfo --threads 0 -I"$root/src" -o "$output" \
  "$root"/bench/cuda_polymul/*.cu "$root"/src/prim/polymul/cuda/*.cu "$root/src/prim/polymul/ref/schoolbook.cpp" \
  >"$output.log" 2>&1 || {
  grep -E 'error|fatal' "$output.log" >&2 || cat "$output.log" >&2
  exit 1
}
if grep -E '[1-9][0-9]* bytes (stack frame|spill)' "$output.log" >&2; then
  echo "build.sh: a kernel spills or has a stack frame, see $output.log" >&2
  exit 1
fi
