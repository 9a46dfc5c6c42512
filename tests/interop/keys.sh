#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# keys.sh Pyca|OpenSsl: runs that class of test_keys.py. Ends with 77 where the peer cannot be had.
set -euo pipefail
cd "$(dirname "$0")"
python=python3
case "$1" in
  Pyca) python=$(./pyca.sh) ;;
  OpenSsl)
    POLYKEM_OPENSSL=$(../tls/openssl35.sh)
    export POLYKEM_OPENSSL
    ;;
esac
exec "$python" -B test_keys.py "$1"
