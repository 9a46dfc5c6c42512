# SPDX-License-Identifier: Apache-2.0
#
# polykem_cuda_objects(RESULT FOLDER SOURCE...): compiles .cu files with nvcc for POLYKEM_CUDA_ARCHS and .cpp files with
# the host's compiler, RESULT becomes the list of objects. They lie in FOLDER, those of nvcc each with a .log of what it
# says of its kernels (registers, shared memory, spills), which tools/cuda_resources.py reads.
# polykem_cuda_module(TARGET OUTPUT OBJECT...): links them to a shared object.
# polykem_cuda_program(TARGET SOURCE...): a program of CUDA sources that uses the library.
#
# nvcc is called directly: CMake's own CUDA support wants a complete toolkit, and the compiler's wheels are none.
include_guard()
include(${CMAKE_CURRENT_LIST_DIR}/warnings.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/cuda_archs.cmake)
option(POLYKEM_CUDA_LINES "Kernels know their source's lines, for profilers and compute-sanitizer" OFF)

# What a driver of nvcc's own release reads: Zstandard needs branch 550, which CUDA 12 does not ask for.
execute_process(COMMAND ${POLYKEM_NVCC} --version OUTPUT_VARIABLE version)
if(version MATCHES "release 12[.]")
  set(compress -Xfatbin=-compress-all)
else()
  set(compress --compress-mode=size)
endif()

function(polykem_cuda_gencode result)
  set(gencode ${compress})
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
  set(common -std=c++20 -O3 -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_BINARY_DIR}/src -I${PROJECT_SOURCE_DIR}/include
             -I${PROJECT_SOURCE_DIR})
  get_target_property(warnings polykem_warnings INTERFACE_COMPILE_OPTIONS)
  set(host_flags -fPIC -fvisibility=hidden -fvisibility-inlines-hidden ${warnings} ${POLYKEM_HARDENING_FLAGS})
  set(quick OFF)
  if(POLYKEM_QUICK_COMPILE AND NOT POLYKEM_CUDA_KERNELS)  # objects that nothing links
    set(quick ON)
  endif()
  # A package's own flags. Sanitizers and counters would need libraries that a module does not have.
  if(NOT quick AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize|--coverage")
    separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
    list(APPEND host_flags ${POLYKEM_FORTIFY_FLAGS} ${flags})
  endif()
  list(JOIN host_flags "," nvcc_host_flags)
  set(nvcc ${POLYKEM_NVCC} ${common} --expt-relaxed-constexpr -Xcompiler=${nvcc_host_flags}
           -ccbin ${CMAKE_CXX_COMPILER} ${gencode} -x cu -Xptxas=-v)
  if(POLYKEM_CUDA_LINES)
    list(APPEND nvcc -lineinfo)
  endif()
  get_filename_component(cuda_home ${POLYKEM_NVCC}/../.. ABSOLUTE)
  set(host ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} ${common} ${host_flags})
  if(quick)
    list(APPEND host -O0)
  endif()
  if(NOT cuda_home STREQUAL "/usr")  # GCC does not find its own headers when /usr/include is named
    list(APPEND host -isystem ${cuda_home}/include)
  endif()
  list(TRANSFORM POLYKEM_CUDA_ARCHS REPLACE "(.)$" ".\\1" OUTPUT_VARIABLE code)
  if(POLYKEM_CUDA_PTX)
    list(APPEND code PTX)
  endif()
  list(JOIN code ", " code)
  list(APPEND host "-DPOLYKEM_CUDA_CODE=\"${code}\"")
  set(objects)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
    if(IS_ABSOLUTE ${source})
      get_filename_component(source ${source} NAME)
    endif()
    string(REPLACE "/" "_" name ${source})
    set(object ${folder}/${name}.o)
    set(files -MD -MF ${object}.d -MT ${object} -c ${path} -o ${object})
    if(source MATCHES "[.]cpp$")
      add_custom_command(OUTPUT ${object} COMMAND ${host} ${files} DEPENDS ${path} DEPFILE ${object}.d
                         COMMENT "CUDA, host side: ${source}" VERBATIM)
    else()
      # No compiler launcher: ccache compares the host's view of the text and misses what __CUDA_ARCH__ decides.
      add_custom_command(
        OUTPUT ${object}
        COMMAND sh -c [["$@" 2> "$0" || { cat "$0" >&2; exit 1; }]] ${object}.log ${nvcc} ${files}
        DEPENDS ${path}
        DEPFILE ${object}.d
        COMMENT "CUDA ${source}"
        VERBATIM)
    endif()
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  # Objects of deleted sources would still appear in the table of resources.
  file(GLOB old ${folder}/*.o ${folder}/*.o.log)
  foreach(file IN LISTS old)
    string(REGEX REPLACE "[.]log$" "" object ${file})
    if(NOT object IN_LIST objects)
      file(REMOVE ${file})
    endif()
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

function(polykem_cuda_module target output)
  polykem_cuda_gencode(gencode)
  set(options_of_linker)
  if(POLYKEM_HARDENING)
    set(options_of_linker -Xlinker=-z,now,-z,relro)
  endif()
  set(inputs ${ARGN})
  if(POLYKEM_LINK_STUBS)
    list(APPEND inputs $<TARGET_OBJECTS:polykem_old_glibc>)
    list(APPEND options_of_linker -Xcompiler=-static-libstdc++ -L${POLYKEM_LINK_STUBS}
                                  -Xlinker=${POLYKEM_STUBS_LINKER_OPTIONS})
  endif()
  get_filename_component(name ${output} NAME)
  set(check_size)
  if(NOT POLYKEM_CUDA_LINES)
    list(LENGTH POLYKEM_CUDA_ARCHS archs)
    set(check_size COMMAND ${CMAKE_COMMAND} -DARCHS=${archs} -DMODULE=${output}
                           -P ${PROJECT_SOURCE_DIR}/cmake/module_size.cmake)
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${POLYKEM_NVCC} -shared -cudart static ${gencode} -ccbin ${CMAKE_CXX_COMPILER} ${inputs} -o ${output}
            -Xlinker --no-undefined -Xlinker --exclude-libs=ALL ${options_of_linker}
    ${check_size}
    DEPENDS ${inputs}
    COMMENT "Linking ${name}"
    VERBATIM)
  polykem_cuda_target(${target} ${output})
endfunction()

# Part of `all`, unless `all` compiles no kernels.
function(polykem_cuda_target target output)
  if(POLYKEM_CUDA_KERNELS)
    add_custom_target(${target} ALL DEPENDS ${output})
  else()
    add_custom_target(${target} DEPENDS ${output})
  endif()
endfunction()

function(polykem_cuda_program target)
  polykem_cuda_gencode(gencode)
  polykem_cuda_objects(objects ${CMAKE_CURRENT_BINARY_DIR}/cuda ${ARGN})
  get_property(build_info GLOBAL PROPERTY POLYKEM_CUDA_BUILD_INFO)
  list(APPEND objects ${build_info})
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${target})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${POLYKEM_NVCC} -cudart static ${gencode} -ccbin ${CMAKE_CXX_COMPILER} ${objects}
            $<TARGET_FILE:polykem::static> -o ${program}
    DEPENDS ${objects} polykem_static polykem_cuda
    COMMENT "Linking ${target}"
    VERBATIM)
  polykem_cuda_target(${target} ${program})
endfunction()
