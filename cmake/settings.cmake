# SPDX-License-Identifier: Apache-2.0
# How every product is compiled, and what its shared library is called; after project().
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "polykem runs on Linux only, not on ${CMAKE_SYSTEM_NAME}. embedded/ is for microcontrollers.")
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(POLYKEM_UNITY "Compile sources of a folder together: headers are read once" ON)
option(POLYKEM_PCH "Precompile the headers that take longest to read, those of the program and of its tests" OFF)
option(POLYKEM_QUICK_COMPILE
       "Less optimisation for nanobind, network code of the program, CUDA objects never linked; libraries keep -O3" OFF)
set(CMAKE_UNITY_BUILD ${POLYKEM_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
include(${CMAKE_CURRENT_LIST_DIR}/warnings.cmake)
# Added to every target directly: linking polykem_warnings would export the flags to users.
add_compile_options($<TARGET_PROPERTY:polykem_warnings,INTERFACE_COMPILE_OPTIONS>)
option(POLYKEM_HARDENING "Stack protector, FORTIFY, control-flow protection, read-only relocations" ON)
include(${CMAKE_CURRENT_LIST_DIR}/hardening.cmake)

# The promise of docs/versions.md: before 1.0 the C API may change with the minor version, from then on with the major
# one. The SONAME, the version of the symbols and what find_package takes for compatible all come from here.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(POLYKEM_ABI 0.${PROJECT_VERSION_MINOR})
  set(POLYKEM_COMPATIBILITY SameMinorVersion)
else()
  set(POLYKEM_ABI ${PROJECT_VERSION_MAJOR})
  set(POLYKEM_COMPATIBILITY SameMajorVersion)
endif()

# polykem_shared_library(TARGET): the version in its names, and nothing exported but the C API.
function(polykem_shared_library target)
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${POLYKEM_ABI})
  set(map ${PROJECT_BINARY_DIR}/exports.map)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map.in ${map} @ONLY)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()

# polykem_quick_compile(LEVEL TARGET...): the level of optimisation in a build that asks for quick compilation.
function(polykem_quick_compile level)
  if(POLYKEM_QUICK_COMPILE)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
    endforeach()
  endif()
endfunction()
