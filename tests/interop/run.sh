#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh CARGO BUILD: exchanges keys with the crates of Cargo.toml. Ends with 77 where they cannot be fetched.
set -uo pipefail
cd "$(dirname "$0")" || exit
cargo=$1
export POLYKEM_BUILD=$2

if ! "$cargo" fetch --locked --quiet; then
  echo "skipped: Cargo cannot fetch the other implementations"
  exit 77
fi
exec "$cargo" run --quiet --release --locked --offline --target-dir "$POLYKEM_BUILD/interop"
