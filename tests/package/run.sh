#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the packages of this commit that a folder lacks, for all systems at once, and tries them in one system after
# the other; with bookworm, images made of its packages, and the wheel, while later systems' packages are still being
# built. Needs root.
#
#   tests/package/run.sh [OPTION...] FOLDER SYSTEM...     options of tools/package/deb.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
options=()
while [[ ${1:-} == --* ]]; do
  options+=("$1")
  shift
done
(($# >= 2)) || {
  echo "usage: tests/package/run.sh [OPTION...] FOLDER SYSTEM..." >&2
  exit 2
}
folder=$1
shift
mkdir -p "$folder"
[[ " ${options[*]} " != *" --cuda "* ]] || tools/cuda_toolchain.sh --wheels >/dev/null # once, not in each build
# build SYSTEM PATIENCE: says which system each line is about.
build() {
  nice -n "$2" tools/package/deb.sh --missing "${options[@]}" "$folder" "$1" 2>&1 | sed -u "s/^/$1: /"
}

declare -A builds
set -m # a build and what it starts end together
finish() {
  local build
  for build in "${builds[@]}"; do kill -- "-$build" 2>/dev/null || true; done
}
trap finish EXIT
patience=0 # the first system's build comes first
for system in "$@"; do
  build "$system" "$patience" &
  builds[$system]=$!
  patience=10
done
for system in "$@"; do
  wait "${builds[$system]}"
  tests/package/deb.sh "$folder" "$system"
  if [[ $system == bookworm ]]; then
    twice=()
    [[ " ${options[*]} " != *" --twice "* ]] || twice=(--twice)
    tools/package/oci.sh "${twice[@]}" "$folder/bookworm" "$folder/oci"
    tests/package/oci.sh "$folder/oci"
    tests/wheel/installed.sh
  fi
done
