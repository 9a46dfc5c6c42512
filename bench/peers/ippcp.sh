#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fetches Intel's Cryptography Primitives Library from PyPI, where Intel publishes it as a static library.
#
#   bench/peers/ippcp.sh FOLDER    leaves FOLDER/libippcp.a, and does nothing if it is there
set -euo pipefail

readonly package='ipp-crypto-static==2026.2.0'
readonly hash='sha256:b4b952a9435f7aab3d1684822f644d586ce5f6bda874e4bfb8c008ee674ca5c5'

folder=$1
[[ ! -e $folder/libippcp.a ]] || exit 0
rm -rf "$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
  -r <(echo "$package --hash=$hash")
mv "$folder/venv/lib/libippcp.a" "$folder/libippcp.a"
rm -rf "$folder/venv"
