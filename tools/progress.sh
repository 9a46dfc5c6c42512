#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   tools/progress.sh LOG COMMAND...
#
# Runs COMMAND with its output in LOG. Every ten seconds (POLYKEM_PROGRESS_SECONDS) a line says how long it has taken
# and what it said last; if it fails, the last lines of LOG are shown. The exit status is that of COMMAND.
set -uo pipefail
every=${POLYKEM_PROGRESS_SECONDS:-10}
log=$1
shift
"$@" >"$log" 2>&1 </dev/null &
child=$!
trap 'kill "$child" 2>/dev/null' INT TERM
SECONDS=0
shown=0
while kill -0 "$child" 2>/dev/null; do
  sleep 0.2
  if ((SECONDS >= shown + every)); then
    shown=$SECONDS
    echo "  $shown s: $(tail -c 2000 "$log" | tr '\r' '\n' | grep -v '^ *$' | tail -n 1 | cut -c 1-100)"
  fi
done
wait "$child"
status=$?
((status == 0)) || tail -n 8 "$log" >&2
exit "$status"
