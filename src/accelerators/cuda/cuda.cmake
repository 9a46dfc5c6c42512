# SPDX-License-Identifier: Apache-2.0
#
# The CUDA backend: its loader, always part of the library, and the module libpolykem_cuda.so, where there is an nvcc.
#   POLYKEM_CUDA         AUTO: build the module if nvcc is found; ON: fail without it; OFF, within another project: do
#                        not look for it
#   POLYKEM_CUDA_ARCHS   architectures, see cmake/cuda_archs.cmake
#   POLYKEM_CUDA_PTX     also embed PTX of the newest of them, for later GPUs
#   POLYKEM_CUDA_KERNELS OFF: the target all compiles the module's host code alone, no kernel and no benchmark
set(default AUTO)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(default OFF)
endif()
set(POLYKEM_CUDA ${default} CACHE STRING "Build the CUDA module: AUTO, ON or OFF")
set_property(CACHE POLYKEM_CUDA PROPERTY STRINGS AUTO ON OFF)
option(POLYKEM_CUDA_PTX "Embed PTX of the newest architecture" OFF)
option(POLYKEM_CUDA_KERNELS "Compile the CUDA kernels by default; off in make test" ON)

set_source_files_properties(engine/crossover.cpp PROPERTIES COMPILE_DEFINITIONS
                            POLYKEM_LIBRARY_VERSION="${PROJECT_VERSION}")
include(GNUInstallDirs)
foreach(target polykem_static polykem_shared)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endforeach()

if(POLYKEM_CUDA STREQUAL OFF)
  return()
endif()
if(NOT POLYKEM_NVCC)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/cuda_toolchain.sh --check
                  OUTPUT_VARIABLE found ERROR_VARIABLE problem OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(NOT failed)
    set(POLYKEM_NVCC ${found} CACHE FILEPATH "The CUDA compiler")
  endif()
endif()
if(NOT POLYKEM_NVCC)
  if(POLYKEM_CUDA STREQUAL ON)
    message(FATAL_ERROR "POLYKEM_CUDA=ON needs a CUDA compiler. ${problem}")
  endif()
  message(STATUS "polykem: no CUDA compiler, the CUDA module is not built")
  return()
endif()
include(${PROJECT_SOURCE_DIR}/cmake/cuda_compile.cmake)
message(STATUS "polykem: CUDA module with ${POLYKEM_NVCC} for ${POLYKEM_CUDA_ARCHS}")

# A scheme's GPU code is found in its folder; schemes/device_schemes.cpp lists it.
file(GLOB POLYKEM_CUDA_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
     ${CMAKE_CURRENT_SOURCE_DIR}/accelerators/cuda/module/*.c[pu]* ${CMAKE_CURRENT_SOURCE_DIR}/schemes/*/cuda/*.c[pu]*)
list(FILTER POLYKEM_CUDA_SOURCES INCLUDE REGEX "[.](cu|cpp)$")
list(APPEND POLYKEM_CUDA_SOURCES prim/polymul/cuda/imma.cu schemes/device_schemes.cpp)

# The module, and programs that measure a GPU, know what they were built from.
include(${PROJECT_SOURCE_DIR}/cmake/build_info_source.cmake)
set(build_info ${CMAKE_CURRENT_BINARY_DIR}/cuda/build_info.cpp)
polykem_build_info_source(${build_info} src include)
polykem_cuda_objects(objects ${CMAKE_CURRENT_BINARY_DIR}/cuda ${POLYKEM_CUDA_SOURCES} ${build_info})
set(info_object ${objects})
list(FILTER info_object INCLUDE REGEX "/build_info[.]cpp[.]o$")
set_property(GLOBAL PROPERTY POLYKEM_CUDA_BUILD_INFO ${info_object})
set(POLYKEM_CUDA_MODULE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libpolykem_cuda.so)
polykem_cuda_module(polykem_cuda ${POLYKEM_CUDA_MODULE} ${objects})
if(NOT POLYKEM_CUDA_KERNELS)
  set(host_objects ${objects})
  list(FILTER host_objects INCLUDE REGEX "[.]cpp[.]o$")
  add_custom_target(polykem_cuda_host ALL DEPENDS ${host_objects})
elseif(POLYKEM_INSTALL)
  # Beside the library, which looks there first, unless a package has another folder for it.
  install(FILES ${POLYKEM_CUDA_MODULE} DESTINATION ${POLYKEM_MODULE_DIR} COMPONENT cuda)
endif()

# tests/sass checks the machine code of all that has kernels.
set(kernel_objects ${objects})
list(FILTER kernel_objects INCLUDE REGEX "[.]cu[.]o$")
set_property(GLOBAL PROPERTY POLYKEM_CUDA_KERNEL_OBJECTS ${kernel_objects})
