#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What docs/gpu.md says of a GPU that is shared, as far as the machine allows: the forms of CUDA_VISIBLE_DEVICES,
# several processes, memory that another process holds, and MPS and MIG where they are. It changes no setting of the
# GPU.
#   tests/gpu/shared.sh BUILD_FOLDER
# BUILD_FOLDER/bin has polykem_gpu_shared and the module. A line for each case, and one for what the machine has of MPS
# and MIG; exit code 77: there is no GPU.
set -uo pipefail

program=$1/bin/polykem_gpu_shared
scratch=$(mktemp -d)
failed=no
trap 'rm -rf "$scratch"' EXIT

# expect WHAT RIGHT COMMAND...: one case. RIGHT: its exit code. 3 is right nowhere, since the CPU computes what a GPU
# cannot; 4, that it did, is wrong where an item fits into the GPU's memory.
expect() {
  local what=$1 right=$2 code=0 verdict=ok
  shift 2
  timeout 120 "$@" >"$scratch/said" 2>&1 || code=$?
  [[ $code == "$right" ]] || verdict=FAILED failed=yes
  printf '%-7s %-44s exit code %-3s %s\n' "$verdict" "$what" "$code" "$(tail -n 1 "$scratch/said")"
}

exchange() {
  "$program" exchange "${1:-20000}"
}
export -f exchange
export program

exchange 100 >"$scratch/first" || {
  cat "$scratch/first"
  exit 77
}

uuid=$(nvidia-smi -L | sed -n 's/^GPU .*(UUID: \(GPU-[^)]*\)).*/\1/p' | head -n 1)
mig=$(nvidia-smi -L | sed -n 's/.*(UUID: \(MIG-[^)]*\)).*/\1/p' | head -n 1)
visible() {
  expect "CUDA_VISIBLE_DEVICES='$1'" "$2" env CUDA_VISIBLE_DEVICES="$1" "$program" exchange 20000
}
# Where the caller has chosen GPUs, only the forms that name none are known to be right.
if [[ -z ${CUDA_VISIBLE_DEVICES+set} ]]; then
  visible 0 0
  visible 0,99 0
  [[ -z $uuid ]] || visible "$uuid" 0
  [[ -z $uuid ]] || visible "${uuid:0:12}" 0
fi
echo "GPU: $(nvidia-smi --query-gpu=name,compute_mode,mig.mode.current --format=csv,noheader | head -n 1)"
if [[ -n $mig ]]; then
  visible "$mig" 0
else
  echo "skipped MIG: no slice here"
fi
visible '' 77
visible -1 77
visible 99 77
visible GPU-00000000-0000-0000-0000-000000000000 77

# exchanges_together N: that many processes at once.
exchanges_together() {
  local i result=0 children=()
  for ((i = 0; i < $1; ++i)); do
    exchange 100000 &
    children+=($!)
  done
  for i in "${children[@]}"; do
    wait "$i" || result=$?
  done
  return "$result"
}
export -f exchanges_together
expect "four processes" 0 bash -c 'exchanges_together 4'

# The context of a process takes some hundred MiB. What is then left of 1024 holds parts of a batch, halved if need be;
# 16 have no room for a context, and without one the backend is not available.
expect "4096 MiB left by another process" 0 "$program" beside 4096 200000
expect "1024 MiB left by another process" 0 "$program" beside 1024 200000
expect "16 MiB left by another process" 77 "$program" beside 16 2000

# The last lines of the logs of MPS's daemon and server.
mps_log() {
  sed 's/^/  MPS: /' "$CUDA_MPS_LOG_DIRECTORY/control.log" "$CUDA_MPS_LOG_DIRECTORY/server.log" 2>/dev/null | tail -n 20
}

with_mps() {
  export CUDA_MPS_PIPE_DIRECTORY=$scratch/pipe CUDA_MPS_LOG_DIRECTORY=$scratch/log
  mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  local said
  if ! said=$(nvidia-cuda-mps-control -d 2>&1); then
    echo "skipped MPS: its daemon does not start: ${said:-no reason given}"
    mps_log
    return
  fi
  trap 'echo quit | nvidia-cuda-mps-control >/dev/null 2>&1; rm -rf "$scratch"' EXIT
  local servers
  exchange 100 >"$scratch/said" 2>&1 # a client starts the server, where the machine allows one
  servers=$(echo get_server_list | nvidia-cuda-mps-control 2>/dev/null | grep -x '[0-9]*')
  if [[ -z $servers ]]; then
    echo "skipped MPS: its daemon runs but starts no server; a client says: $(tail -n 1 "$scratch/said")"
    mps_log
    return
  fi
  echo "MPS: process ${servers//$'\n'/, } serves the clients"
  expect "MPS, four processes" 0 bash -c 'exchanges_together 4'
  expect "MPS, a quarter of the multiprocessors" 0 env CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25 "$program" exchange 100000
  expect "MPS, 2 GB of memory" 0 env CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=2G "$program" exchange 200000
  mps_log
}
if command -v nvidia-cuda-mps-control >/dev/null; then
  with_mps
else
  echo "skipped MPS: no nvidia-cuda-mps-control"
fi
[[ $failed == no ]]
