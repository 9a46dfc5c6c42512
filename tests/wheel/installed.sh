#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   installed.sh [DEFINE...]
#
# The source distribution and the wheel of what is committed are built twice: in other folders, with another umask, time
# zone and locale, without ccache. They have the same bytes. The wheel installs into a bare environment without a
# compiler, where README.md's lines run, and the extra cuda adds the modules; the source distribution installs from its
# listed requirements alone. Code for AVX2 and AVX-512 takes most of the compiler's time and changes nothing that is
# checked here; DEFINEs of CMake replace the choice to leave it out.
# Ends with 77 where PyPI cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
defines=("${@:-POLYKEM_VECTORS=none}")
python=$(command -v python3)

fail() {
  echo "wheel test: $*" >&2
  exit 1
}

git -C "$root" rev-parse HEAD >/dev/null 2>&1 || {
  echo "wheel test: no clone, whose commit would be packed" >&2
  exit 77
}
mkdir "$scratch/requirements"
"$python" -m venv "$scratch/pip"
pip=("$scratch/pip/bin/pip" --quiet --disable-pip-version-check)
listed=$(sed -n '/^\(requires\|dependencies\) = /s/"\([^"]*\)"[^"]*/\n\1\n/gp' "$root/pyproject.toml")
mapfile -t needs < <(grep '>=' <<<"$listed")
"${pip[@]}" wheel -w "$scratch/requirements" "${needs[@]}" || exit 77

build() {
  CCACHE_DISABLE=1 "$root/tools/package/wheel.py" --python "$python" "${defines[@]/#/--define=}" \
    --scratch "$scratch/$1/build" --dist "$scratch/$1/dist" >"$scratch/log" 2>&1 ||
    { tail -n 40 "$scratch/log" && fail "the build in $1"; }
}
build first
(
  umask 077
  export TZ=Asia/Tokyo LC_ALL=C
  build another/longer/folder
)
diff -r "$scratch/first/dist" "$scratch/another/longer/folder/dist" || fail "two builds differ"
wheel=$(echo "$scratch"/first/dist/*manylinux_2_28*.whl)
sdist=$(echo "$scratch"/first/dist/*.tar.gz)

# lines: README.md's Python code.
lines=$("$python" -c 'import re, sys; print(re.search(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.S)[1])' \
  "$root/README.md")
# works_in ENVIRONMENT: they run there, with HPKE in both, and the package's own files are what is used.
works_in() {
  (cd "$scratch" && "$1/bin/python" -I -c "$lines
from polykem import hpke
assert polykem.__file__.startswith('$1')")
}

# A bare environment has Python and nothing else on its PATH.
"$python" -m venv "$scratch/bare"
mkdir "$scratch/bin"
(
  export PATH=$scratch/bin
  "$scratch/bare/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel"
  works_in "$scratch/bare"
) || fail "$(basename "$wheel") in a bare environment"
"$scratch/bare/bin/python" -I -c 'from polykem import ckks'
licences=$("$scratch/bare/bin/pip" show -f polykem | grep -c 'licenses/')
[[ $licences == 2 ]] || fail "the wheel has $licences licence files, not LICENSE and NOTICE"
for part in nanobind robin-map nlohmann-json OpenSSL libstdc++; do
  grep -q "$part" "$scratch"/bare/lib/python3*/site-packages/polykem-*.dist-info/licenses/python/NOTICE ||
    fail "NOTICE does not name $part"
done
# The extra brings the wheel of the CUDA modules, here of empty ones, which lie beside the extension.
mkdir "$scratch/cuda"
PYTHONPATH=$root/tools/package "$python" -B - "$scratch/cuda" <<'PROGRAM'
import sys
from pathlib import Path
import cuda_wheel
import record
folder = Path(sys.argv[1])
for name in cuda_wheel.MODULES:
    (folder / name).touch()
cuda_wheel.pack(folder, record.version(), 1_700_000_000, folder)
PROGRAM
"$scratch/bare/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$scratch/cuda" \
  'polykem[cuda]' || fail "the extra cuda"
for module in libpolykem_cuda.so libpolykem_ckks_cuda.so; do
  [[ -e $(echo "$scratch"/bare/lib/python3*/site-packages/polykem/"$module") ]] || fail "the extra cuda has no $module"
done
"$here/older_glibc.py" "$wheel" || [[ $? == 77 ]] || fail "$(basename "$wheel") on an older glibc"

"$python" -m venv "$scratch/offline"
CMAKE_ARGS="${defines[*]/#/-D}" PIP_FIND_LINKS='' "$scratch/offline/bin/pip" install --quiet \
  --disable-pip-version-check --no-index --find-links "$scratch/requirements" "$sdist" ||
  fail "the source distribution without a network"
works_in "$scratch/offline"
