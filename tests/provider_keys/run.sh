#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh System|OpenSsl35|Pyca: runs that class of test_openssl.py, and with OpenSSL 3.5 the program POLYKEM_KEYS_TEST
# too, if that is set. Ends with 77 where OpenSSL 3.5 or pyca/cryptography cannot be had.
set -euo pipefail
cd "$(dirname "$0")"
if [[ $1 == OpenSsl35 ]]; then
  POLYKEM_OPENSSL=$(../tls/openssl35.sh)
  export POLYKEM_OPENSSL
  [[ -z ${POLYKEM_KEYS_TEST:-} ]] || LD_LIBRARY_PATH=$POLYKEM_OPENSSL/lib "$POLYKEM_KEYS_TEST" --gtest_brief=1
fi
python=python3
[[ $1 != Pyca ]] || python=$(../interop/pyca.sh)
exec "$python" -B test_openssl.py "$1"
