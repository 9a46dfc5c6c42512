#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command of the core and writes what every signal did.
#
#   trace.sh wave SET OPERATION BUILD   writes BUILD/SET-OPERATION.vcd and .gtkw, for GTKWave
#   trace.sh schedule BUILD FOLDER      draws which unit is busy when, for ML-KEM-768, to FOLDER/schedule_OPERATION.svg,
#                                       and writes the table in FOLDER/walk.md if that page is there
set -euo pipefail

hw=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# trace SET OPERATION BUILD: runs the first known answer of SET and writes BUILD/SET-OPERATION.vcd.
trace() {
  local vector
  vector=$(python3 -B "$hw/tb/core/vectors.py" | grep "^$1/0/$2 ") || {
    echo "trace: no known answer for $2 of $1; sets: mlkem512 ... kyber1024; operations: keygen encaps decaps" >&2
    return 1
  }
  "$hw/tools/build_model.sh" "$3" trace
  "$3/trace" --trace "$3/$1-$2.vcd" <<<"$vector" >"$3/trace.log" || {
    cat "$3/trace.log" >&2
    return 1
  }
}

case "${1:-}" in
  wave)
    build=$(realpath -m "$4")
    trace "$2" "$3" "$build"
    python3 -B "$hw/trace/waves.py" "$build/$2-$3.vcd" "$build/$2-$3.gtkw"
    echo "gtkwave $build/$2-$3.gtkw"
    ;;
  schedule)
    build=$(realpath -m "$2")
    for operation in keygen encaps decaps; do
      trace mlkem768 "$operation" "$build"
      python3 -B "$hw/trace/schedule.py" "$build/mlkem768-$operation.vcd" "ML-KEM-768, $operation" \
        "$3/schedule_$operation.svg"
    done
    [[ ! -f $3/walk.md ]] || python3 -B "$hw/trace/walk.py" "$build/mlkem768-encaps.vcd" "$3/walk.md"
    ;;
  *)
    sed -n '4,10s/^# \?//p' "$0" >&2
    exit 2
    ;;
esac
