#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds the CUDA compiler, or installs it, and prints its path and nothing else on stdout.
#
#   tools/cuda_toolchain.sh [--check] [--wheels]
#
# It takes, in this order: $CUDACXX, the wheels in .venv-cuda, nvcc on PATH, /usr/local/cuda/bin/nvcc. Where none
# is CUDA 12 or newer it makes .venv-cuda beside the root Makefile and installs NVIDIA's compiler wheels there (about
# 200 MB, no GPU and no driver needed). --check installs nothing and exits with 1 when there is no compiler; --wheels
# passes over a toolkit and takes the wheels, so that two machines compile alike.
set -euo pipefail

readonly version='13.0.*'
readonly packages=(nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl)
# For tools/sass_check.py. Any release reads what an older compiler made.
readonly disassembler=('nvidia-cuda-cuobjdump==13.*' 'nvidia-cuda-nvdisasm==13.*')

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root venv=$root/.venv-cuda

check_only=no
wheels_only=no
for argument in "$@"; do
  case "$argument" in
    --check) check_only=yes ;;
    --wheels) wheels_only=yes ;;
    *)
      echo "cuda_toolchain: unknown argument '$argument'; usage: tools/cuda_toolchain.sh [--check] [--wheels]" >&2
      exit 2
      ;;
  esac
done

# accept NVCC: prints its path and ends the script if it runs and is CUDA 12 or newer.
accept() {
  local release
  [[ -x "$1" ]] || return 0
  release=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p') || return 0
  [[ "${release:-0}" -ge 12 ]] || return 0
  echo "$1"
  exit 0
}

accept_wheels() {
  local nvcc
  for nvcc in "$venv"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
    accept "$nvcc"
  done
}

install_wheels() {
  local python specs=()
  python=$(command -v python3) || {
    echo "cuda_toolchain: no CUDA compiler and no python3 to install one with; install a CUDA toolkit, or python3" >&2
    exit 1
  }
  for package in "${packages[@]}"; do
    specs+=("$package==$version")
  done
  {
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "${specs[@]}" "${disassembler[@]}"
  } >&2 || {
    echo "cuda_toolchain: the compiler wheels could not be installed into $venv (is there a network?);" \
      "install a CUDA toolkit 12 or newer and set CUDACXX to its nvcc" >&2
    exit 1
  }
  link_names
}

# Wheels of an earlier run may lack the disassembler. The compiler works without it, so a failure is no error.
add_disassembler() {
  local bin
  for bin in "$venv"/lib/python3*/site-packages/nvidia/cu13/bin; do
    [[ -x "$bin/nvcc" && ! -x "$bin/cuobjdump" ]] || continue
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "${disassembler[@]}" >&2 ||
      echo "cuda_toolchain: no disassembler; the check of the kernels' machine code will not run" >&2
  done
}

# The linker asks for libcudart.so and for lib64; the wheels carry libcudart.so.13 and lib.
link_names() {
  local home
  for home in "$venv"/lib/python3*/site-packages/nvidia/cu13; do
    [[ -e "$home/lib64" ]] || ln -s lib "$home/lib64"
    [[ -e "$home/lib/libcudart.so" || ! -e "$home/lib/libcudart.so.13" ]] ||
      ln -s libcudart.so.13 "$home/lib/libcudart.so"
  done
}

if [[ $wheels_only == no && -n "${CUDACXX:-}" ]]; then
  accept "$(command -v "$CUDACXX" || echo "$CUDACXX")"
  echo "cuda_toolchain: CUDACXX=$CUDACXX is no nvcc of CUDA 12 or newer; correct it or unset it" >&2
  exit 1
fi
[[ $check_only == yes ]] || add_disassembler
accept_wheels
if [[ $wheels_only == no ]]; then
  accept "$(command -v nvcc || true)"
  accept /usr/local/cuda/bin/nvcc
fi
if [[ $check_only == yes ]]; then
  echo "cuda_toolchain: no CUDA compiler here; run tools/cuda_toolchain.sh to install one into $venv" >&2
  exit 1
fi
install_wheels
accept_wheels
echo "cuda_toolchain: the wheels are in $venv but their nvcc does not run; remove that folder and try again" >&2
exit 1
