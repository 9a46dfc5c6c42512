#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the whole core through its buses. Prints a line "NAME ... ok" or "NAME ... FAIL" for each test.
#
#   test.sh quick BUILD   runs lint, every kind of command with a few known answers of each set, and a few abortions
#   test.sh all BUILD     runs every known answer, rejection and ACVP vector, and more abortions; all of that also with
#                         two lanes and two rounds of Keccak a cycle, and with one lane, two rounds, the other reduction
#                         and two decapsulations compared; it also upsets some bits, traces the core, and tests that
#                         doc/ has the traces' pictures
set -uo pipefail

which=$1
hw=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "$2")
mkdir -p "$build"

# check NAME COMMAND...: runs the command, prints whether it passed, and writes what it said to BUILD/NAME.log.
check() {
  local name=$1
  shift
  if "$@" >"$build/$name.log" 2>&1; then
    echo "$name ... ok"
  else
    echo "$name ... FAIL"
    tail -n 20 "$build/$name.log"
    return 1
  fi
}

# beside COMMAND...: runs the command beside others, as many at a time as there are CPUs. BUILD/failed says that one
# failed.
beside() {
  while (($(jobs -rp | wc -l) >= $(nproc))); do
    wait -n || true
  done
  { "$@" || touch "$build/failed"; } &
}

# parameters of the two other configurations
double=(Lanes=2 RoundsPerCycle=2)
other=(RoundsPerCycle=2 Method=0 Check=1)

# lint PARAMETER=VALUE...: lets Verilator check the sources.
lint() {
  local sources
  mapfile -t sources <rtl/files.f
  "$("$hw/tools/setup.sh")/verilator" --lint-only -Wall --top-module polykem_top "${@/#/-G}" synth/lint.vlt \
    "${sources[@]}"
}
model() { "$hw/tools/build_model.sh" "$@"; }
known_answers() { "$1/core_test" <"$build/vectors.txt"; }
residue() { "$1/residue_test" "$1" "$abortions" <"$build/residue.txt"; }
# configuration NAME FOLDER "TEST..." PARAMETER=VALUE...: builds the tests of a configuration and makes their checks
configuration() {
  local name=$1 folder=$2 tests=$3 test status=0
  for test in $tests; do
    check "model$name.$test" model "$folder" "$test" "${@:4}" || return
  done
  check "known_answers$name" known_answers "$folder" || status=1
  [[ $tests != *residue_test* ]] || check "residue$name" residue "$folder" || status=1
  return "$status"
}
traces() {
  mkdir -p "$build/pictures"
  trace/trace.sh schedule "$build" "$build/pictures" && python3 -B trace/test_trace.py "$build"
}

cd "$hw" || exit
tools/setup.sh >/dev/null || exit # once, before several jobs want it
rm -f "$build/failed"
options=()
abortions=2
if [[ $which == all ]]; then
  options=(--all)
  abortions=20
fi
python3 -B tb/core/vectors.py "${options[@]}" >"$build/vectors.txt"
# an encapsulation and a decapsulation of each set
grep -E '^(mlkem|kyber)[0-9]+/0/(encaps|decaps) ' "$build/vectors.txt" >"$build/residue.txt"
beside configuration "" "$build" "core_test residue_test"
if [[ $which == all ]]; then
  beside configuration _double "$build/double" "core_test residue_test" "${double[@]}"
  beside check traces traces
  beside check faults python3 -B faults/faults.py "$build/faults" --sample
  beside configuration _other "$build/other" "core_test residue_test" "${other[@]}"
fi
beside check lint lint
beside check lint_double lint "${double[@]}"
beside check lint_other lint "${other[@]}"
wait
[[ ! -e $build/failed ]]
