# SPDX-License-Identifier: Apache-2.0
#
# polykem_ckks_archs(): leaves those of POLYKEM_CUDA_ARCHS that CKKS's kernels run on, in the caller's scope: clusters
# of blocks need compute capability 9.0.
# polykem_ckks_kernels(RESULT): RESULT becomes the objects of ckks/src/cuda. They are compiled once, by the target
# polykem_ckks_kernels, on which those who link them depend.
include_guard()
include(${PROJECT_SOURCE_DIR}/cmake/cuda_compile.cmake)

macro(polykem_ckks_archs)
  list(FILTER POLYKEM_CUDA_ARCHS EXCLUDE REGEX "^[1-8][0-9]$")
endmacro()

function(polykem_ckks_kernels result)
  polykem_ckks_archs()
  if(NOT TARGET polykem_ckks_kernels)
    set(folder ${PROJECT_SOURCE_DIR}/ckks/src/cuda)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu ${folder}/*.cpp)
    polykem_cuda_objects(objects ${PROJECT_BINARY_DIR}/ckks_kernels ${sources})
    add_custom_target(polykem_ckks_kernels DEPENDS ${objects})
    set_property(GLOBAL PROPERTY POLYKEM_CKKS_KERNELS ${objects})
  endif()
  get_property(objects GLOBAL PROPERTY POLYKEM_CKKS_KERNELS)
  set(${result} ${objects} PARENT_SCOPE)
endfunction()
