# SPDX-License-Identifier: Apache-2.0
#
# polykem_cuda_interface(SOURCES FOLDER): writes accelerators/cuda/module/interface_hash.hpp below FOLDER. It has a hash
# of the headers below SOURCES that say what passes between the library and its CUDA module. Both are compiled with it,
# so that the library refuses a module of other headers.
set(POLYKEM_CUDA_INTERFACE accelerators/cuda/module/module.hpp core/batch.hpp core/build_info.hpp core/device.hpp
                           core/plan.hpp core/scheme.hpp core/status.hpp)
set(POLYKEM_CUDA_INTERFACE_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/module/interface_hash.hpp.in)

function(polykem_cuda_interface sources folder)
  set(digests)
  foreach(header IN LISTS POLYKEM_CUDA_INTERFACE)
    file(SHA256 ${sources}/${header} digest)
    list(APPEND digests ${digest})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources}/${header})
  endforeach()
  string(SHA256 hash "${digests}")
  string(SUBSTRING ${hash} 0 8 hash)
  configure_file(${POLYKEM_CUDA_INTERFACE_TEMPLATE} ${folder}/accelerators/cuda/module/interface_hash.hpp @ONLY)
endfunction()
