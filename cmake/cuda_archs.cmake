# SPDX-License-Identifier: Apache-2.0
#
# The GPUs for which kernels are compiled: POLYKEM_CUDA_ARCHS is a list of compute capabilities without the point
# ("80;90"), `native` or `all`. Here it becomes a list: for `native` those of this machine's GPUs, 90 where there are
# none; for `all` every one that is supported, and POLYKEM_CUDA_PTX is set.
include_guard()
set(POLYKEM_CUDA_ARCHS native CACHE STRING "GPU architectures the CUDA modules are compiled for: a list, native or all")
set(POLYKEM_CUDA_ALL_ARCHS 75 80 86 89 90 100 120)

if(POLYKEM_CUDA_ARCHS MATCHES "^(all|native)$")
  execute_process(COMMAND ${POLYKEM_NVCC} --list-gpu-code OUTPUT_VARIABLE known COMMAND_ERROR_IS_FATAL ANY)
endif()
if(POLYKEM_CUDA_ARCHS STREQUAL all)
  set(archs)
  foreach(arch IN LISTS POLYKEM_CUDA_ALL_ARCHS)
    if(known MATCHES "sm_${arch}\n")  # CUDA 12.0 knows no 10.0
      list(APPEND archs ${arch})
    endif()
  endforeach()
  set(POLYKEM_CUDA_ARCHS ${archs})
  set(POLYKEM_CUDA_PTX ON)
elseif(POLYKEM_CUDA_ARCHS STREQUAL native)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
  string(REGEX MATCHALL "[0-9]+[.][0-9]" POLYKEM_CUDA_ARCHS "${found}")
  list(TRANSFORM POLYKEM_CUDA_ARCHS REPLACE "[.]" "")
  list(REMOVE_DUPLICATES POLYKEM_CUDA_ARCHS)
  set(archs)
  foreach(arch IN LISTS POLYKEM_CUDA_ARCHS)
    if(arch GREATER_EQUAL 75 AND known MATCHES "sm_${arch}\n")
      list(APPEND archs ${arch})
    elseif(arch GREATER 75)  # newer than nvcc
      set(POLYKEM_CUDA_PTX ON)
    endif()
  endforeach()
  set(POLYKEM_CUDA_ARCHS ${archs})
  if(failed OR NOT POLYKEM_CUDA_ARCHS)
    set(POLYKEM_CUDA_ARCHS 90)
  endif()
endif()
