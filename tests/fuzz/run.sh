#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   tests/fuzz/run.sh FUZZER SEEDS CORPUS
#
# Runs a fuzzer for POLYKEM_FUZZ_SECONDS (10) from the files of SEEDS and from what earlier runs have kept below
# POLYKEM_FUZZ_CORPUS (CORPUS), where what reaches more code is kept. The input of a crash is written beside it.
set -eu
corpus=${POLYKEM_FUZZ_CORPUS:-$3}
name=$(basename "$1")
mkdir -p "$corpus/$name" "$corpus/crashes"
exec "$1" "$corpus/$name" "$2" -max_total_time="${POLYKEM_FUZZ_SECONDS:-10}" -timeout=10 -len_control=0 \
  -artifact_prefix="$corpus/crashes/$name-" -print_final_stats=1
