#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks the arm64 libraries that program and tests need, those of Debian 12, into a folder; nothing of the machine
# changes.
#
#   tools/arm64/sysroot.sh FOLDER
#
# apt fetches the packages with lists of its own in FOLDER/apt. C and C++ library come with the cross compiler.
set -euo pipefail
folder=$(realpath -m "$1")
packages=(libssl-dev libssl3 zlib1g-dev zlib1g libfmt-dev libfmt9 libcli11-dev nlohmann-json3-dev libasio-dev
  prometheus-cpp-dev libprometheus-cpp-core1.0 libprometheus-cpp-pull1.0 libprometheus-cpp-push1.0 libcivetweb-dev
  libcivetweb1 civetweb libcurl4-openssl-dev libcurl4)
[[ -f $folder/complete ]] && exit 0

mkdir -p "$folder"/apt/{state/lists/partial,cache/archives/partial,packages}
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State=$folder/apt/state"
  -o "Dir::State::status=/dev/null" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$folder/apt/packages" && "${apt[@]}" download "${packages[@]/%/:arm64}")
for package in "$folder"/apt/packages/*.deb; do
  dpkg-deb --extract "$package" "$folder"
done
rm -rf "$folder/apt"
touch "$folder/complete"
