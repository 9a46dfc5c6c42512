#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the images of tools/package/oci, as archives in OCI's format, from Debian packages and a base that it makes
# itself. Needs root, but no daemon and no registry.
#
#   tools/package/oci.sh [--twice] PACKAGES OUT      PACKAGES is what tools/package/deb.sh built for bookworm
#
# OUT/NAME-VERSION.oci.tar are the images. --twice builds them again, with another locale, time zone and umask, and
# compares.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "oci.sh: $*" >&2
  exit 1
}

twice=no
if [[ ${1:-} == --twice ]]; then
  twice=yes
  shift
fi
(($# == 2)) || fail "usage: tools/package/oci.sh [--twice] PACKAGES OUT"
[[ $(id -u) == 0 ]] || fail "needs root, to make systems of their own"
packages=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)

readonly suite=bookworm base=localhost/debian:bookworm-slim images=(polykemd polykem-haproxy)
# What Debian's own slim image leaves out, too.
readonly slim=(--dpkgopt=path-exclude=/usr/share/{doc,man,info,locale}/'*'
  --dpkgopt=path-include=/usr/share/doc/'*'/copyright)
revision=$(cut -d " " -f 1 "$packages/../.commits/${packages##*/}") || fail "deb.sh did not build $packages"
SOURCE_DATE_EPOCH=$(git -C "$here" log -1 --format=%ct "$revision")
export SOURCE_DATE_EPOCH
scratch=$(mktemp -d)
export CONTAINERS_STORAGE_CONF=$scratch/storage.conf

trap 'rm -rf --one-file-system "$scratch"' EXIT

# quiet COMMAND...: what it says is shown only if it fails.
quiet() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "$1 $2 failed"; }; }

# use_storage FOLDER: images and containers are kept there from now on, as plain folders, whatever the kernel offers:
# what a layer contains depends on that.
use_storage() {
  mkdir "$1"
  printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$1/storage" "$1/run" \
    >"$CONTAINERS_STORAGE_CONF"
}

# Only the packages, so that nothing else can get into an image.
make_context() {
  mkdir "$scratch/context"
  find "$packages" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$scratch/context/" \;
  version=$(dpkg-deb -f "$scratch"/context/polykem-tools_*.deb Version) || fail "$packages has no polykem-tools"
  version=${version%-*}
}

make_base() {
  local container root
  quiet mmdebstrap --quiet --mode=root --variant=minbase "${slim[@]}" "$suite" "$1/base.tar"
  container=$(buildah from scratch)
  root=$(buildah mount "$container")
  # Devices, names and addresses are the runtime's.
  tar -xp --exclude='./dev/*' --exclude=./etc/hostname --exclude=./etc/resolv.conf -C "$root" -f "$1/base.tar"
  quiet buildah config --cmd bash --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  quiet buildah commit --rm --timestamp "$SOURCE_DATE_EPOCH" "$container" "$base"
}

# build_image FOLDER NAME: FOLDER/NAME-VERSION.oci.tar
build_image() {
  local folder=$1 name=$2
  quiet buildah build --isolation chroot --pull=never --format oci --timestamp "$SOURCE_DATE_EPOCH" \
    --build-arg BASE="$base" --build-arg SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" --build-arg VERSION="$version" \
    --build-arg REVISION="$revision" -t "$name:$version" -f "$here/oci/$name.Containerfile" "$scratch/context"
  quiet buildah push "localhost/$name:$version" "oci:$folder/$name:$name:$version"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=go=rX,u+rw -c \
    -C "$folder/$name" -f "$folder/$name-$version.oci.tar" blobs index.json oci-layout
}

# build FOLDER: the base and all images.
build() {
  local name
  use_storage "$1"
  make_base "$1"
  for name in "${images[@]}"; do
    build_image "$1" "$name"
  done
}

digest() { sed -n 's/.*"digest":"\(sha256:[0-9a-f]*\)".*/\1/p' "$1/index.json"; }

make_context
echo "Building:"
umask 022
build "$scratch/first"
if [[ $twice == yes ]]; then
  (umask 002 && TZ=Asia/Tokyo LC_ALL=C build "$scratch/second")
fi
rm -f "$out"/*.oci.tar
for name in "${images[@]}"; do
  file=$name-$version.oci.tar
  [[ $twice == no ]] || cmp "$scratch/first/$file" "$scratch/second/$file" || fail "two builds differ"
  mv "$scratch/first/$file" "$out/"
  echo "$name:$version $(digest "$scratch/first/$name") $(du -h --apparent-size "$out/$file" | cut -f 1)"
done
[[ $twice == no ]] || echo "Two builds gave the same images."
