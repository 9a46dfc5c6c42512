#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the library for musl, with the code for AVX2, by Zig's C++ compiler from PyPI, and runs its unit tests as
# static programs. Needs Debian's packages googletest and nlohmann-json3-dev. Some ten minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build-musl
tests=(capi_test prim_test drbg_test keys_test item_status_test threads_test machine_limits_test usable_cpus_test)

[[ -e /usr/src/googletest/CMakeLists.txt && -e /usr/include/nlohmann/json.hpp ]] || {
  echo "musl.sh: install googletest and nlohmann-json3-dev" >&2
  exit 1
}
mkdir -p "$build/sysroot/usr/include" "$build/sysroot/usr/share/cmake"
[[ -e $build/venv ]] || python3 -m venv "$build/venv"
"$build/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r tests/install/zig.txt
zig=$("$build/venv/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')

# A header library is all that the tests need of others.
cp -r /usr/include/nlohmann "$build/sysroot/usr/include/"
cp -r /usr/share/cmake/nlohmann_json "$build/sysroot/usr/share/cmake/"

# Zig's driver takes its own default processor, without what -mavx2 implies, and adds a sanitizer to plain builds.
wrap() {
  printf '#!/bin/sh\nexec %q %s "$@"\n' "$zig" "$2" >"$build/$1"
  chmod +x "$build/$1"
}
wrap cc 'cc -target x86_64-linux-musl -mcpu=x86_64+popcnt -fno-sanitize=undefined'
wrap c++ 'c++ -target x86_64-linux-musl -mcpu=x86_64+popcnt -fno-sanitize=undefined'
wrap ar ar
wrap ranlib ranlib

cmake -G Ninja -B "$build" -DCMAKE_TOOLCHAIN_FILE=tests/install/musl.cmake -DCMAKE_BUILD_TYPE=Release \
  -DPOLYKEM_BUILD_CLI=OFF -DPOLYKEM_BUILD_TESTS=ON -DPOLYKEM_CUDA=OFF -DPOLYKEM_VECTORS=avx2 -DPOLYKEM_PLAIN_TESTS=ON \
  '-DPOLYKEM_TESTS_LEAVE_OUT=embedded;kat;rtl;secrets' >/dev/null
cmake --build "$build" -j "$(nproc)" --target "${tests[@]}"
for name in "${tests[@]}"; do
  "$build/bin/$name" --gtest_brief=1
done
