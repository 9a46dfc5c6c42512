#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# agrees.sh VERSION: debian/ has the version, the series and the symbols of the library, and the images have the series.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$1 series=${1%.*}
[[ $version == 0.* ]] || series=${1%%.*}

fail() {
  echo "package test: $*" >&2
  exit 1
}

packaged=$(sed -n '1s/^polykem (\(.*\)-[^-]*) .*/\1/p' debian/changelog)
[[ $packaged == "$version" ]] || fail "debian/changelog begins with version $packaged, not $version"
grep -qx "Package: libpolykem$series" debian/control || fail "debian/control has no package libpolykem$series"
diff <(sed -n 's/^ \([^ ]*\) .*/\1/p' "debian/libpolykem$series.symbols") \
  <(sed "s/@@/@/; s/^POLYKEM_$series\$/&@&/" tests/install/symbols.txt) ||
  fail "debian/libpolykem$series.symbols has other symbols than tests/install/symbols.txt"
for image in polykemd polykem-haproxy; do
  grep -q "/libpolykem${series}_" "tools/package/oci/$image.Containerfile" ||
    fail "the image $image has no package libpolykem$series"
done
grep -qx "VERSION=$version" docs/containers.md || fail "docs/containers.md does not name version $version"
