#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# with_openssl35.sh PROGRAM: a GoogleTest program with OpenSSL 3.5's libraries. Ends with 77 where they cannot be had.
set -euo pipefail
openssl=$("$(dirname "$0")/../tls/openssl35.sh")
LD_LIBRARY_PATH=$openssl/lib exec "$1" --gtest_brief=1
