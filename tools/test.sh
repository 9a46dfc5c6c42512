#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs the tests, one phase after the other, and adds up.
#
#   tools/test.sh PHASE...      PHASE: release | sanitize | full | program | ubsan | fuzz
#
#   release  everything that needs no GPU, in build/
#   sanitize the quick tests under AddressSanitizer and most of UndefinedBehaviorSanitizer, in build-sanitize/
#   full     the long tests of the release build: label full
#   program  the program's tests under both sanitizers, faulty network clients included, in build-sanitize/
#   ubsan    the quick tests under all of UndefinedBehaviorSanitizer, in build-ubsan/
#   fuzz     every fuzzer for POLYKEM_FUZZ_SECONDS (10), in build-fuzz/
#
# The last line is "N passed, N failed"; the exit status is 0 only when something ran and nothing failed.
# A phase that does not build counts as one failure, and the other phases still run.
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
launcher=()
if command -v ccache >/dev/null 2>&1; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# Sanitizers slow the products down many times. They leave out the test of memory use, which they distort, and tests
# that add no line of code to others: of the largest sets most, of FrodoKEM the unsalted sets, and accumulated
# hashes that take long.
sanitizer_labels='^(quick|unit|kat|lanes|diff)$'
sanitizer_leaves_out='ALargeBatch|(EveryCase|AgreesWith)[A-Za-z]*/(ntruhps40961229|ntruhrss1373)'
sanitizer_leaves_out+='|HashesOfEveryMode/(ntruhps40961229|ntruhrss1373|frodokem640)|frodokem(976|1344)|/efrodokem'

passed=0
failed=0
summary=()
skips=()

# note PHASE PASSED FAILED SKIPPED SECONDS
note() {
  passed=$((passed + $2))
  failed=$((failed + $3))
  summary+=("$(printf '  %-8s %4d passed  %4d failed  %4d skipped  %4d s' "$1" "$2" "$3" "$4" "$5")")
}

# quietly LOG COMMAND...: the output goes to LOG and is shown only when the command fails.
quietly() {
  local log=$1
  shift
  if ! "$@" >"$log" 2>&1; then
    grep -nE 'error|Error|FAILED|undefined reference' "$log" | head -n 20
    tail -n 20 "$log"
    echo "  the whole output: $log"
    return 1
  fi
}

# count STATUS FILE: how many test cases of that status a JUnit file has.
count() { grep -c "<testcase .*status=\"$1\"" "$2"; }

# run_ctest PHASE DIRECTORY STARTED CTEST-ARGUMENTS...
run_ctest() {
  local phase=$1 dir=$2 started=$3 report good bad skipped
  shift 3
  report="$PWD/$dir/$phase.junit.xml"
  rm -f "$report"
  ctest --test-dir "$dir" --output-on-failure --no-tests=error -j "$jobs" --output-junit "$report" "$@" |
    grep -vE ' +Passed +|\*\*\*Skipped|\((Skipped|Not Run)\)$|^ +Start |^Internal ctest|^Test project|^$' |
    grep -vE 'sec\*proc|^Label Time|^Total Test time|^The following tests did not run'
  if [[ ! -f "$report" ]]; then
    note "$phase" 0 1 0 $((SECONDS - started))
    return
  fi
  good=$(count run "$report")
  bad=$(count fail "$report")
  skipped=$(grep -cE '<testcase .*status="(notrun|disabled)"' "$report")
  mapfile -t -O "${#skips[@]}" skips < <(sed -n 's/.*<testcase name="\([^"]*\)".*status="notrun".*/\1/p' "$report")
  note "$phase" "$good" "$bad" "$skipped" $((SECONDS - started))
}

# run_phase PHASE DIRECTORY PRESET-AND-OPTIONS... -- CTEST-ARGUMENTS...
run_phase() {
  local phase=$1 dir=$2 started=$SECONDS
  shift 2
  local options=()
  while [[ "$1" != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  echo "== $phase: build in $dir, then test"
  mkdir -p "$dir"
  if quietly "$dir/configure.log" cmake -B "$dir" "${options[@]}" "${launcher[@]}" &&
    quietly "$dir/build.log" cmake --build "$dir" -j "$jobs"; then
    run_ctest "$phase" "$dir" "$started" "$@"
  else
    note "$phase" 0 1 0 $((SECONDS - started))
  fi
}

fuzz_compiler() { compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort -V | head -n 1; }

# All CUDA code is compiled, with a compiler that is fetched where there is none. Without one the tests of what it made
# are skipped, and the summary says why.
cuda_problem=
find_cuda_compiler() {
  [[ ${POLYKEM_TEST_CUDA:-yes} == yes ]] || {
    cuda_problem='POLYKEM_TEST_CUDA says so'
    return
  }
  mkdir -p build
  { tools/setup.sh cuda && tools/cuda_toolchain.sh; } >build/cuda_toolchain.log 2>&1 ||
    cuda_problem=$(tail -n 1 build/cuda_toolchain.log)
}

run() {
  local clang
  case "$1" in
    release)
      find_cuda_compiler
      run_phase release build --preset release -DPOLYKEM_BUILD_TESTS=ON -- -LE '^(gpu|full)$'
      ;;
    full) run_phase full build --preset release -DPOLYKEM_BUILD_TESTS=ON -- -L '^full$' -LE gpu ;;
    sanitize | ubsan)
      run_phase "$1" "build-$1" --preset "$1" -DPOLYKEM_BUILD_CLI=OFF -- \
        -L "$sanitizer_labels" -LE gpu -E "$sanitizer_leaves_out"
      ;;
    program)
      run_phase program build-sanitize --preset sanitize -DPOLYKEM_BUILD_CLI=ON -- -L '^(quick|cli)$' -LE gpu
      ;;
    fuzz)
      clang=$(fuzz_compiler)
      run_phase fuzz build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=None -DPOLYKEM_BUILD_FUZZERS=ON \
        -DPOLYKEM_BUILD_EXAMPLES=OFF -DPOLYKEM_CUDA=OFF -DCMAKE_CXX_COMPILER="$clang" \
        -DCMAKE_C_COMPILER="${clang/++/}" -- -L fuzz
      ;;
    *)
      echo "test: unknown phase '$1' (release, sanitize, full, program, ubsan, fuzz)" >&2
      exit 2
      ;;
  esac
}

(($#)) || set -- release sanitize
for phase in "$@"; do
  run "$phase"
done

echo
printf '%s\n' "${summary[@]}"
if ((${#skips[@]})); then
  echo "  skipped, because this machine or build lacks what they test:"
  printf '%s\n' "${skips[@]}" | sort -u | head -n 30 | paste -sd ' ' | fold -s -w 100 | sed 's/^/    /'
fi
[[ -z $cuda_problem ]] || echo "  skipped: compiling the CUDA code ($cuda_problem)"
if command -v nvidia-smi >/dev/null 2>&1; then
  echo "  tests with the label gpu are run by: ctest --test-dir build -L gpu"
else
  echo "  tests with the label gpu did not run: there is no NVIDIA driver on this machine"
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
