# SPDX-License-Identifier: Apache-2.0
#
# polykem_cuda_objects(RESULT FOLDER SOURCE...): compiles sources with nvcc for POLYKEM_CUDA_ARCHS, RESULT becomes the
# list of objects. They lie in FOLDER, each with a .log of what the compiler says of its kernels (registers, shared
# memory, spills), which tools/cuda_resources.py reads.
# polykem_cuda_module(TARGET OUTPUT OBJECT...): links them to a shared object.
# polykem_cuda_program(TARGET SOURCE...): a program of CUDA sources that uses the library.
#
# nvcc is called directly: CMake's own CUDA support wants a complete toolkit, and the compiler's wheels are none.
include_guard()

function(polykem_cuda_gencode result)
  set(gencode)
  foreach(arch IN LISTS POLYKEM_CUDA_ARCHS)
    list(APPEND gencode -gencode=arch=compute_${arch},code=sm_${arch})
  endforeach()
  if(POLYKEM_CUDA_PTX)
    set(archs ${POLYKEM_CUDA_ARCHS})
    list(SORT archs COMPARE NATURAL)
    list(GET archs -1 newest)
    list(APPEND gencode -gencode=arch=compute_${newest},code=compute_${newest})
  endif()
  set(${result} ${gencode} PARENT_SCOPE)
endfunction()

function(polykem_cuda_objects result folder)
  polykem_cuda_gencode(gencode)
  set(flags -std=c++20 -O3 --expt-relaxed-constexpr -lineinfo
            -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
            -Xcompiler=-fPIC,-fvisibility=hidden,-fvisibility-inlines-hidden,-Wall,-Wextra
            -ccbin ${CMAKE_CXX_COMPILER})
  set(objects)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
    if(IS_ABSOLUTE ${source})
      get_filename_component(source ${source} NAME)
    endif()
    string(REPLACE "/" "_" name ${source})
    set(object ${folder}/${name}.o)
    # No compiler launcher: ccache compares the host's view of the text and misses what __CUDA_ARCH__ decides.
    add_custom_command(
      OUTPUT ${object}
      COMMAND sh -c [["$@" 2> "$0" || { cat "$0" >&2; exit 1; }]] ${object}.log
              ${POLYKEM_NVCC} ${flags} ${gencode} -x cu -Xptxas=-v -MD -MF ${object}.d -MT ${object}
              -c ${path} -o ${object}
      DEPENDS ${path}
      DEPFILE ${object}.d
      COMMENT "CUDA ${source}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

function(polykem_cuda_module target output)
  polykem_cuda_gencode(gencode)
  set(hardened)
  if(POLYKEM_HARDENING)
    set(hardened -Xlinker=-z,now,-z,relro)
  endif()
  get_filename_component(name ${output} NAME)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${POLYKEM_NVCC} -shared -cudart static ${gencode} -ccbin ${CMAKE_CXX_COMPILER} ${ARGN} -o ${output} -Xlinker
            --no-undefined -Xlinker --exclude-libs=ALL ${hardened}
    DEPENDS ${ARGN}
    COMMENT "Linking ${name}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
endfunction()

function(polykem_cuda_program target)
  polykem_cuda_gencode(gencode)
  polykem_cuda_objects(objects ${CMAKE_CURRENT_BINARY_DIR}/cuda ${ARGN})
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${target})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${POLYKEM_NVCC} -cudart static ${gencode} -ccbin ${CMAKE_CXX_COMPILER} ${objects}
            $<TARGET_FILE:polykem::static> -o ${program}
    DEPENDS ${objects} polykem_static polykem_cuda
    COMMENT "Linking ${target}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${program})
endfunction()
