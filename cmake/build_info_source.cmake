# SPDX-License-Identifier: Apache-2.0
set(POLYKEM_COMMIT "" CACHE STRING "The commit of the sources; empty: ask git")
# What results of polykem-lab and of CKKS's benchmarks depend on.
set(POLYKEM_LABORATORY_FOLDERS src include research/lab ckks/src ckks/include ckks/bench)

# polykem_build_info_source(OUTPUT FOLDER...): OUTPUT is a C++ source that says what is built (core/build_info.hpp): the
# commit, and a hash of the sources in these folders. It is made again when either changes.
function(polykem_build_info_source output)
  set(script ${PROJECT_SOURCE_DIR}/cmake/build_info.cmake)
  set(patterns)
  foreach(folder IN LISTS ARGN)
    foreach(extension c cpp cu cuh h hpp)
      list(APPEND patterns ${PROJECT_SOURCE_DIR}/${folder}/*.${extension})
    endforeach()
  endforeach()
  file(GLOB_RECURSE hashed CONFIGURE_DEPENDS ${patterns})
  execute_process(COMMAND git rev-parse --git-path logs/HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(head)
    cmake_path(ABSOLUTE_PATH head BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
  if(EXISTS "${head}")
    list(APPEND hashed ${head})
  endif()
  list(JOIN ARGN "," folders)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DCOMMIT=${POLYKEM_COMMIT} -DFOLDERS=${folders} -DOUTPUT=${output} -P ${script}
    DEPENDS ${script} ${hashed} VERBATIM)
endfunction()
