# SPDX-License-Identifier: Apache-2.0
#
# The CUDA backend: its loader, always part of the library, and the module libpolykem_cuda.so, where there is an nvcc.
#   POLYKEM_CUDA         AUTO: build the module if there is an nvcc; ON: fail without one; OFF: do not look
#   POLYKEM_CUDA_ARCHS   real architectures, e.g. "75;80;86;89;90"
#   POLYKEM_CUDA_PTX     also embed PTX of the newest of them, for later GPUs
set(POLYKEM_CUDA AUTO CACHE STRING "Build the CUDA module: AUTO, ON or OFF")
set_property(CACHE POLYKEM_CUDA PROPERTY STRINGS AUTO ON OFF)
set(POLYKEM_CUDA_ARCHS 90 CACHE STRING "GPU architectures the CUDA module is compiled for")
option(POLYKEM_CUDA_PTX "Embed PTX of the newest architecture" OFF)

target_sources(polykem_objects PRIVATE engine/cuda/backend.cpp engine/cuda/crossover.cpp engine/cuda/device_keys.cpp
                                       engine/cuda/loader.cpp engine/cuda/tune.cpp)
set_source_files_properties(engine/cuda/crossover.cpp PROPERTIES COMPILE_DEFINITIONS
                            POLYKEM_LIBRARY_VERSION="${PROJECT_VERSION}")
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
message(STATUS "polykem: CUDA module with ${POLYKEM_NVCC} for ${POLYKEM_CUDA_ARCHS}")

set(POLYKEM_CUDA_SOURCES
    engine/cuda/device.cpp
    engine/cuda/gather.cu
    engine/cuda/module.cpp
    engine/cuda/passage.cpp
    schemes/ntru/cuda/hps2048509.cu
    schemes/ntru/cuda/hps2048677.cu
    schemes/ntru/cuda/hps4096821.cu
    schemes/ntru/cuda/hps40961229.cu
    schemes/ntru/cuda/hrss701.cu
    schemes/ntru/cuda/hrss1373.cu
    schemes/ntru/cuda/ntru_cuda.cpp)
file(GLOB POLYKEM_POLYMUL_CUDA CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
     ${CMAKE_CURRENT_SOURCE_DIR}/prim/polymul/cuda/*.cu)
list(APPEND POLYKEM_CUDA_SOURCES ${POLYKEM_POLYMUL_CUDA})

set(gencode)
foreach(arch IN LISTS POLYKEM_CUDA_ARCHS)
  list(APPEND gencode -gencode=arch=compute_${arch},code=sm_${arch})
endforeach()
if(POLYKEM_CUDA_PTX)
  list(SORT POLYKEM_CUDA_ARCHS COMPARE NATURAL)
  list(GET POLYKEM_CUDA_ARCHS -1 newest)
  list(APPEND gencode -gencode=arch=compute_${newest},code=compute_${newest})
endif()
set(flags -std=c++20 -O3 --expt-relaxed-constexpr -lineinfo -I${CMAKE_CURRENT_SOURCE_DIR}
          -Xcompiler=-fPIC,-fvisibility=hidden,-fvisibility-inlines-hidden,-Wall,-Wextra -ccbin ${CMAKE_CXX_COMPILER})

# nvcc is called directly: CMake's own CUDA support wants a complete toolkit, and the compiler's wheels are none.
# What it says (registers, shared memory, spills of each kernel) goes to a .log beside the object.
set(objects)
foreach(source IN LISTS POLYKEM_CUDA_SOURCES)
  string(REPLACE "/" "_" name ${source})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND sh -c [["$@" 2> "$0" || { cat "$0" >&2; exit 1; }]] ${object}.log ${POLYKEM_NVCC} ${flags} ${gencode} -x cu
            -Xptxas=-v -MD -MF ${object}.d -MT ${object} -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPFILE ${object}.d
    COMMENT "CUDA ${source}"
    VERBATIM)
  list(APPEND objects ${object})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cuda)

set(POLYKEM_CUDA_MODULE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libpolykem_cuda.so)
add_custom_command(
  OUTPUT ${POLYKEM_CUDA_MODULE}
  COMMAND ${POLYKEM_NVCC} -shared -cudart static ${gencode} -ccbin ${CMAKE_CXX_COMPILER} ${objects}
          -o ${POLYKEM_CUDA_MODULE} -Xlinker --no-undefined -Xlinker --exclude-libs=ALL
  DEPENDS ${objects}
  COMMENT "Linking libpolykem_cuda.so"
  VERBATIM)
add_custom_target(polykem_cuda ALL DEPENDS ${POLYKEM_CUDA_MODULE})
install(FILES ${POLYKEM_CUDA_MODULE} DESTINATION lib)
