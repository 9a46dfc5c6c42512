#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the whole core through its buses. A line "NAME ... ok" or "NAME ... FAIL" for each test.
#
#   test.sh quick BUILD   lint, every kind of command with a few known answers of each set, a few abortions
#   test.sh all BUILD     every known answer, rejection and ACVP vector; more abortions; all of that also with two lanes
#                         and two rounds of Keccak a cycle, the answers also with one lane, two rounds and the other
#                         reduction; traces, and whether doc/ has their pictures
set -uo pipefail

which=$1
hw=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "$2")
mkdir -p "$build"
status=0

# check NAME COMMAND...: what it says goes to BUILD/NAME.log
check() {
  local name=$1
  shift
  if "$@" >"$build/$name.log" 2>&1; then
    echo "$name ... ok"
  else
    echo "$name ... FAIL"
    tail -n 20 "$build/$name.log"
    status=1
  fi
}

# parameters of the two other configurations
double=(Lanes=2 RoundsPerCycle=2)
other=(RoundsPerCycle=2 Method=0)

# lint PARAMETER=VALUE...
lint() {
  local sources
  mapfile -t sources <rtl/files.f
  "$("$hw/tools/setup.sh")/verilator" --lint-only -Wall --top-module polykem_top "${@/#/-G}" synth/lint.vlt \
    "${sources[@]}"
}
# known_answers FOLDER
known_answers() { "$1/core_test" <"$build/vectors.txt"; }
# residue FOLDER ABORTIONS: an encapsulation and a decapsulation of each set
residue() {
  grep -E '^(mlkem|kyber)[0-9]+/0/(encaps|decaps) ' "$build/vectors.txt" >"$build/residue.txt"
  "$1/residue_test" "$1" "$2" <"$build/residue.txt"
}
# configuration NAME FOLDER "TEST..." PARAMETER=VALUE...: builds the tests of a configuration and runs them
configuration() {
  local name=$1 folder=$2 tests=$3 test before=$status
  shift 3
  for test in $tests; do
    check "model$name.$test" "$hw/tools/build_model.sh" "$folder" "$test" "$@"
  done
  ((status == before)) || return
  check "known_answers$name" known_answers "$folder"
  [[ $tests != *residue_test* ]] || check "residue$name" residue "$folder" "$abortions"
}
traces() {
  mkdir -p "$build/pictures"
  trace/trace.sh schedule "$build" "$build/pictures" && python3 -B trace/test_trace.py "$build"
}

cd "$hw"
options=()
abortions=2
if [[ $which == all ]]; then
  options=(--all)
  abortions=20
fi
python3 -B tb/core/vectors.py "${options[@]}" >"$build/vectors.txt"
check lint lint
check lint_double lint "${double[@]}"
configuration "" "$build" "core_test residue_test"
if [[ $which == all ]]; then
  configuration _double "$build/double" "core_test residue_test" "${double[@]}"
  configuration _other "$build/other" core_test "${other[@]}"
  check traces traces
fi
exit "$status"
