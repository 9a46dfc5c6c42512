#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Debian packages of the commit that is checked out, in a new system that has only what debian/control asks
# for, without a network, and lets lintian look at them. Needs root.
#
#   tools/package/deb.sh [--cuda] [--twice] OUT SUITE...
#
# OUT/SUITE holds the packages and their sources afterwards. --cuda builds polykem-cuda too, with the compiler of
# tools/cuda_toolchain.sh. --twice builds again, in another folder with another locale, time zone and umask, and
# compares.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source_tree=$(cd "$here/../.." && pwd)
# shellcheck source=tools/package/root.sh
source "$here/root.sh"

fail() {
  echo "deb.sh: $*" >&2
  exit 1
}

cuda=no twice=no
while [[ ${1:-} == --* ]]; do
  case "$1" in
    --cuda) cuda=yes ;;
    --twice) twice=yes ;;
    *) fail "unknown option $1" ;;
  esac
  shift
done
(($# >= 2)) || fail "usage: tools/package/deb.sh [--cuda] [--twice] OUT SUITE..."
[[ $(id -u) == 0 ]] || fail "needs root, to make systems of their own"
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift

profiles=()
[[ $cuda == no ]] || profiles=(-Ppkg.polykem.cuda)
# Tags of packages that Debian distributes.
readonly not_ours=initial-upload-closes-no-bugs
version=$(cd "$source_tree" && dpkg-parsechangelog -S Version)
upstream=${version%-*}
epoch=$(git -C "$source_tree" log -1 --format=%ct)
tree=polykem-$upstream
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

archive() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=go=rX,u+rw,a-s -c "$@"; }

# apt ROOT WORD...: apt-get there; what it says is shown only if it fails.
apt() {
  local root=$1
  shift
  in_root "$root" apt-get -qq -y --no-install-recommends "$@" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "apt-get $*"; }
}

# The committed files and, as a component of its own, the sources of nanobind, which Debian's releases lack.
make_sources() {
  mkdir "$scratch/sources" "$scratch/sources/$tree"
  cd "$scratch/sources"
  git -C "$source_tree" archive --prefix="$tree/" HEAD ':!debian' | xz -T1 >"polykem_$upstream.orig.tar.xz"
  git -C "$source_tree" archive HEAD | tar -x -C "$tree"
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    -d "$scratch" -r "$here/nanobind.txt"
  python3 -m zipfile -e "$scratch"/nanobind-*.whl "$scratch/wheel"
  cp "$scratch"/wheel/nanobind-*.dist-info/licenses/LICENSE "$scratch/wheel/nanobind/"
  archive -C "$scratch/wheel" nanobind | xz -T1 >"polykem_$upstream.orig-nanobind.tar.xz"
  tar -x -C "$tree" -f "polykem_$upstream.orig-nanobind.tar.xz"
}

# prepare_root ROOT SUITE: a system with what debian/control asks for.
prepare_root() {
  local root=$1 nvcc
  echo "A system of $2 with the build dependencies:"
  make_root "$root" "$2" --variant=buildd
  in_root "$root" useradd --create-home --home-dir /build builder
  cp -r "$scratch/sources/$tree" "$root/build/"
  apt "$root" update
  apt "$root" "${profiles[@]}" build-dep "/build/$tree"
  rm -r "$root/build/$tree"
  if [[ $cuda == yes ]]; then
    nvcc=$("$source_tree/tools/cuda_toolchain.sh" --wheels)
    cp -a "${nvcc%/bin/nvcc}" "$root/build/cuda"
  fi
}

# build ROOT FOLDER SETTING...: dpkg-buildpackage in a folder of the system. The version ends with that of the system,
# so that packages of the next one are newer.
build() {
  local root=$1 folder=$2 system
  shift 2
  mkdir -p "$root$folder"
  cp -a "$scratch/sources/." "$root$folder/"
  system=$(sed -n 's/^VERSION_ID="\(.*\)"/deb\1/p' "$root/etc/os-release")
  sed -i "1s/(\(.*\)) [a-z]*;/(\1~${system:-$suite}) $suite;/" "$root$folder/$tree/debian/changelog"
  in_root "$root" chown -R builder: /build
  in_root "$root" --offline setpriv --reuid=builder --regid=builder --init-groups env HOME=/nonexistent \
    SOURCE_DATE_EPOCH="$epoch" CUDACXX=/build/cuda/bin/nvcc DEB_BUILD_OPTIONS="parallel=$(nproc)" "$@" \
    sh -c "umask \$BUILD_UMASK && cd $folder/$tree && dpkg-buildpackage -us -uc ${profiles[*]}" >"$scratch/log" 2>&1 ||
    { tail -n 40 "$scratch/log" && cp "$scratch/log" "$out/failed.log" && fail "the build failed: $out/failed.log"; }
}

compare() {
  local file
  for file in "$1"/*.deb "$1"/*.dsc "$1"/*.tar.xz; do
    cmp "$file" "$2/${file##*/}" || fail "two builds differ"
  done
  echo "Two builds gave the same $(find "$1" -name '*.deb' | wc -l) packages and sources."
}

for suite in "$@"; do
  [[ -d $scratch/sources ]] || make_sources
  root=$scratch/$suite
  prepare_root "$root" "$suite"
  echo "Building:"
  build "$root" /build/first BUILD_UMASK=022 TZ=UTC
  if [[ $twice == yes ]]; then
    build "$root" /build/second/time BUILD_UMASK=002 TZ=Asia/Tokyo LC_ALL=C
    compare "$root/build/first" "$root/build/second/time"
  fi
  rm -rf "${out:?}/$suite"
  mkdir "$out/$suite"
  find "$root/build/first" -maxdepth 1 -type f -exec cp {} "$out/$suite/" \;
  apt "$root" install lintian
  in_root "$root" setpriv --reuid=builder --regid=builder --init-groups \
    sh -c "lintian --fail-on error,warning --suppress-tags $not_ours /build/first/*.changes"
  (cd "$out/$suite" && ls -l ./*.deb)
  rm -rf --one-file-system "$root"
done
