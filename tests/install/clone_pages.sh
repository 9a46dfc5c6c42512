#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Follows pages to the letter in a bare Debian 12 that has git and make, in a clone of what is committed. Needs root.
#
#   tests/install/clone_pages.sh [PAGE...]      for_developers.md, for example; some ten minutes a page
#
# Left to CI is README.md, whose `make test` takes longest.
set -euo pipefail
source_tree=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tools/package/root.sh
source "$source_tree/tools/package/root.sh"
(($#)) || set -- for_operators.md for_developers.md for_researchers.md for_hardware.md
[[ $(id -u) == 0 ]] || {
  echo "clone_pages.sh: needs root, to make a system of its own" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
base=$scratch/base root=$scratch/bare
make_root "$base" bookworm --variant=apt
in_root "$base" sh -c 'apt-get -qq update && apt-get -qq -y --no-install-recommends install git make' \
  >"$scratch/log" 2>&1 || { cat "$scratch/log" && exit 1; }
settings=()
if [[ -n ${PIP_CERT:-} ]]; then # of a proxy, for example
  cp "$PIP_CERT" "$base/root/certificates.pem"
  settings+=(PIP_CERT=/root/certificates.pem)
fi
git clone --quiet --depth 1 "file://$source_tree" "$base/root/clone"
for page in "$@"; do
  begin=$SECONDS
  cp -a "$base" "$root"
  python3 "$source_tree/tests/install/run_docs.py" --print "$root/root/clone/docs/$page" >"$root/root/commands"
  in_root "$root" env "${settings[@]}" bash -c 'cd ~/clone && bash -euxo pipefail ~/commands' >"$scratch/log" 2>&1 ||
    { tail -n 40 "$scratch/log" && echo "clone_pages.sh: $page" >&2 && exit 1; }
  echo "$page: every command works ($((SECONDS - begin)) s)"
  rm -rf --one-file-system "$root"
done
