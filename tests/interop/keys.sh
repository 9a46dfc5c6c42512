#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# keys.sh Pyca|OpenSsl|WolfSsl [CARGO BUILD]: runs that class of test_keys.py. Cargo makes wolfSSL, with the library in
# the build directory. Ends with 77 where the peer cannot be had.
set -euo pipefail
cd "$(dirname "$0")"
python=python3
case "$1" in
  Pyca) python=$(./pyca.sh) ;;
  OpenSsl)
    POLYKEM_OPENSSL=$(../tls/openssl35.sh)
    export POLYKEM_OPENSSL
    ;;
  WolfSsl)
    export POLYKEM_BUILD=$3
    "$2" fetch --locked --quiet || exit 77
    "$2" build --quiet --release --locked --offline --target-dir "$POLYKEM_BUILD/interop"
    export POLYKEM_INTEROP=$POLYKEM_BUILD/interop/release/polykem-interop
    ;;
esac
exec "$python" -B test_keys.py "$1"
