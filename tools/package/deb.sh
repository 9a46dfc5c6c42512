#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Debian packages of the commit that is checked out, in a new system that has only what debian/control asks
# for, without a network, and lets lintian look at them. Needs root.
#
#   tools/package/deb.sh [--cuda] [--twice] [--missing] OUT SYSTEM...
#
# SYSTEM is a suite of Debian or Ubuntu: bookworm, trixie, noble; bookworm-arm64 is cross-built for that architecture.
# OUT/SYSTEM holds the packages and their sources afterwards. --cuda builds polykem-cuda too, with the compiler of
# tools/cuda_toolchain.sh, for the GPUs that POLYKEM_CUDA_ARCHS names, "80;90" for example, or for all. --twice builds
# again, in another folder and another year, with another locale, time zone and umask, and compares. --missing leaves
# alone what was built of this commit, with these options, before.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source_tree=$(cd "$here/../.." && pwd)
# shellcheck source=tools/package/root.sh
source "$here/root.sh"

fail() {
  echo "deb.sh: $*" >&2
  exit 1
}

cuda=no twice=no missing=no
while [[ ${1:-} == --* ]]; do
  case "$1" in
    --cuda) cuda=yes ;;
    --twice) twice=yes ;;
    --missing) missing=yes ;;
    *) fail "unknown option $1" ;;
  esac
  shift
done
(($# >= 2)) || fail "usage: tools/package/deb.sh [--cuda] [--twice] [--missing] OUT SYSTEM..."
[[ $(id -u) == 0 ]] || fail "needs root, to make systems of their own"
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift

# Tags of packages that Debian distributes.
readonly not_ours=initial-upload-closes-no-bugs
version=$(cd "$source_tree" && dpkg-parsechangelog -S Version)
upstream=${version%-*}
epoch=$(git -C "$source_tree" log -1 --format=%ct)
commit=$(git -C "$source_tree" rev-parse HEAD)
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
  git -C "$source_tree" archive --prefix="$tree/" "$commit" ':!debian' | xz -T1 >"polykem_$upstream.orig.tar.xz"
  git -C "$source_tree" archive "$commit" | tar -x -C "$tree"
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
  local root=$1 nvcc tools=()
  echo "A system of $2 with the build dependencies:"
  make_root "$root" "$2" --variant=buildd
  in_root "$root" useradd --create-home --home-dir /build builder
  cp -r "$scratch/sources/$tree" "$root/build/"
  if [[ $twice == yes ]]; then
    tools+=(faketime)
    install -d -m 1777 "$root/dev/shm" # faketime's semaphores
  fi
  if [[ $arch != "$native" ]]; then
    in_root "$root" dpkg --add-architecture "$arch"
    tools+=("crossbuild-essential-$arch")
  fi
  apt "$root" update
  ((${#tools[@]} == 0)) || apt "$root" install "${tools[@]}"
  apt "$root" "${options[@]}" build-dep "/build/$tree"
  rm -r "$root/build/$tree"
  if [[ $cuda == yes ]]; then
    nvcc=$("$source_tree/tools/cuda_toolchain.sh" --wheels)
    cp -a "${nvcc%/bin/nvcc}" "$root/build/cuda"
  fi
}

# build ROOT FOLDER UMASK SETTING...: dpkg-buildpackage in a folder of the system. The version ends with that of the
# system, so that packages of the next one are newer.
build() {
  local root=$1 folder=$2 umask=$3 system
  shift 3
  mkdir -p "$root$folder"
  cp -a "$scratch/sources/." "$root$folder/"
  # shellcheck source=/dev/null
  system=$(source "$root/etc/os-release" && echo "${ID/debian/deb}${VERSION_ID:-$suite}")
  sed -i "1s/(\(.*\)) [a-z]*;/(\1~$system) $suite;/" "$root$folder/$tree/debian/changelog"
  in_root "$root" chown -R builder: /build
  in_root "$root" --offline setpriv --reuid=builder --regid=builder --init-groups env HOME=/nonexistent \
    SOURCE_DATE_EPOCH="$epoch" CUDACXX=/build/cuda/bin/nvcc POLYKEM_CUDA_ARCHS="$archs" \
    DEB_BUILD_OPTIONS="parallel=$(nproc)" "$@" \
    sh -c "umask $umask && cd $folder/$tree && dpkg-buildpackage -us -uc ${options[*]}" >"$scratch/log" 2>&1 ||
    { tail -n 40 "$scratch/log" && cp "$scratch/log" "$out/.commits/$suite.failed.log" &&
      fail "the build failed: $out/.commits/$suite.failed.log"; }
}

compare() {
  local file
  for file in "$1"/*.deb "$1"/*.dsc "$1"/*.tar.xz; do
    cmp "$file" "$2/${file##*/}" || fail "two builds differ"
  done
  echo "Two builds gave the same $(find "$1" -name '*.deb' | wc -l) packages and sources."
}

# choose SYSTEM: its suite and architecture, and what apt-get and dpkg-buildpackage are told.
choose() {
  local profiles=()
  suite=${1%-arm64} arch=$native options=()
  [[ $suite == "$1" ]] || arch=arm64
  [[ $cuda == no ]] || profiles+=(pkg.polykem.cuda)
  if [[ $arch != "$native" ]]; then
    profiles+=(cross nocheck)
    options+=("-a$arch")
  fi
  ((${#profiles[@]} == 0)) || options+=("-P$(IFS=, && echo "${profiles[*]}")")
}

# has SYSTEM: OUT has its packages of this commit, and what the options ask for is among them.
has() {
  local made word
  made=" $(cat "$out/.commits/$1" 2>/dev/null) "
  for word in "${made_of[@]}"; do
    [[ -d $out/$1 && $made == *" $word "* ]] || return 1
  done
}

archs=${POLYKEM_CUDA_ARCHS:-}
native=$(dpkg --print-architecture)
made_of=("$commit")
[[ $cuda == no ]] || made_of+=("cuda=$archs")
[[ $twice == no ]] || made_of+=(twice)
mkdir -p "$out/.commits"
for system in "$@"; do
  if [[ $missing == yes ]] && has "$system"; then
    echo "$out/$system has the packages of this commit."
    continue
  fi
  choose "$system"
  [[ -d $scratch/sources ]] || make_sources
  root=$scratch/$system
  prepare_root "$root" "$suite"
  echo "Building:"
  build "$root" /build/first 022 TZ=UTC
  if [[ $twice == yes ]]; then
    build "$root" /build/second/time 002 TZ=Asia/Tokyo LC_ALL=C "LD_PRELOAD=/usr/\$LIB/faketime/libfaketime.so.1" \
      FAKETIME=+400d NO_FAKE_STAT=1
    compare "$root/build/first" "$root/build/second/time"
  fi
  rm -rf "${out:?}/$system" "$out/.commits/$system"
  mkdir "$out/$system"
  find "$root/build/first" -maxdepth 1 -type f -exec cp {} "$out/$system/" \;
  apt "$root" install lintian
  in_root "$root" setpriv --reuid=builder --regid=builder --init-groups \
    sh -c "lintian --fail-on error,warning --suppress-tags $not_ours /build/first/*.changes"
  (cd "$out/$system" && ls -l ./*.deb)
  echo "${made_of[*]}" >"$out/.commits/$system"
  rm -rf --one-file-system "$root"
done
