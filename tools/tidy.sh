#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# clang-tidy over libraries, program, provider, extension and tests; .clang-tidy names the checks. Any finding fails.
#
#   tools/tidy.sh [--changed] [OPTION-OF-CLANG-TIDY...]
#
# With --changed only what is not on the upstream branch yet, committed or not, each source by itself: seconds a file. A
# header is read with a source beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
unity=ON
if [[ ${1:-} == --changed ]]; then
  unity=OFF
  shift
fi
dir=build-tidy/unity-$unity

# What is compiled here, each once; without the wrappers of the proofs, in which macros stand for CUDA's words.
compiled() {
  sed -n 's/.*"file": "\(.*\)".*/\1/p' "$dir/compile_commands.json" | grep -vE 'nanobind|/tools/proofs/' | sort -u
}

# Sources for the files that have changed; for a header those of its folder that include it.
changed() {
  local base file source
  base=$(git merge-base HEAD '@{upstream}')
  git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.c' '*.hpp' '*.h' | while read -r file; do
    case $file in
      *.hpp | *.h)
        for source in "${file%/*}"/*.cpp; do
          ! grep -qs "[\"/]${file##*/}\"" "$source" || echo "$PWD/$source"
        done
        ;;
      *) echo "$PWD/$file" ;;
    esac
  done | sort -u
}

cmake --preset release -B "$dir" -DPOLYKEM_BUILD_TESTS=ON -DPOLYKEM_UNITY=$unity -DPOLYKEM_BUILD_EXAMPLES=OFF \
  -DPOLYKEM_CKKS=ON -DPOLYKEM_PYTHON=ON -DPython_EXECUTABLE="$(python/tests/venv.sh)" >/dev/null
sed -i 's/ -fno-tree-[a-z]*//g' "$dir/compile_commands.json" # GCC's, which clang-tidy refuses
if [[ $unity == ON ]]; then compiled; else comm -12 <(compiled) <(changed); fi |
  xargs -r -n 1 -P "$jobs" clang-tidy-14 -p "$dir" --quiet --extra-arg=-fbracket-depth=1024 "$@" 2>&1 |
  { grep -vE '^[0-9]+ warnings? generated' || true; }
