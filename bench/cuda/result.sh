# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that measure on a GPU.

# result NAME: the path of a result, for this GPU, in the build folder $build.
result() {
  local gpu
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 | sed 's/NVIDIA //; s/[^A-Za-z0-9]//g; s/.*/\L&/')
  # shellcheck disable=SC2154 # the script that sources this sets it
  mkdir -p "$build/results"
  echo "$build/results/${gpu}_$1"
}
