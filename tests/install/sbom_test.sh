#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   sbom_test.sh BUILD
#
# The list of software that `make sbom` writes is valid SPDX, says the SPDX project's validator, which comes from PyPI.
# Ends with 77 where it cannot be had.
set -euo pipefail
build=$1
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
validator=$build/spdx-tools/bin/pyspdxtools
if [[ ! -x $validator ]]; then
  { python3 -m venv "$build/spdx-tools" && "$build/spdx-tools/bin/pip" install -q spdx-tools==0.8.5; } \
    >"$scratch/pip.log" 2>&1 || {
    echo "sbom test: spdx-tools cannot be installed from PyPI: $(tail -n 1 "$scratch/pip.log")" >&2
    rm -rf "$build/spdx-tools"
    exit 77
  }
fi
"$tools/sbom.py" "$build" "$scratch/polykem.spdx.json"
"$validator" -i "$scratch/polykem.spdx.json"
# So is that of a release.
mkdir "$scratch/dist"
echo package >"$scratch/dist/package.whl"
PYTHONPATH=$tools/package python3 -B - "$scratch/dist" <<'PROGRAM'
import sys
from pathlib import Path
import record
import release_files
parts = [record.Part("libstdc++", "12.2", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
         record.Part("cudart", "13.0", "LicenseRef-NVIDIA-CUDA-EULA", "https://developer.nvidia.com/cuda-toolkit")]
record.write(Path(sys.argv[1], "package.whl"), record.Commit("a" * 40, 1_700_000_000), parts)
release_files.write(Path(sys.argv[1]), "")
PROGRAM
"$validator" -i "$scratch"/dist/*.spdx.json
# The validator is awake: a package without a place to download it from is no SPDX.
sed 's/"downloadLocation"/"elsewhere"/' "$scratch/polykem.spdx.json" >"$scratch/broken.spdx.json"
if "$validator" -i "$scratch/broken.spdx.json" >/dev/null 2>&1; then
  echo "sbom test: the validator accepts a broken file" >&2
  exit 1
fi
