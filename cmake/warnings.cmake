# SPDX-License-Identifier: Apache-2.0
# polykem_warnings: the warnings for all C and C++ of this project. They do not pass to projects that use it.
include_guard(GLOBAL)
option(POLYKEM_WERROR "Warnings are errors" OFF)
add_library(polykem_warnings INTERFACE)
target_compile_options(polykem_warnings INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # it warns about deprecated names in GCC's own library
  target_compile_options(polykem_warnings INTERFACE -Wno-deprecated-declarations)
endif()
# polykem_strict_warnings(TARGET...): further warnings for what is installed. Only with GCC 12 and newer, because some
# of these options have other meanings in Clang. Without -Wuseless-cast and -Wlogical-op, which warn in templates about
# code that other parameters need.
set(POLYKEM_STRICT_WARNINGS
    -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-qual -Wundef -Wredundant-decls -Wnon-virtual-dtor
    -Woverloaded-virtual -Wsuggest-override -Wextra-semi -Wzero-as-null-pointer-constant -Wduplicated-cond
    -Wduplicated-branches -Wdouble-promotion -Wformat=2 -Wvla)
function(polykem_strict_warnings)
  set(gcc "$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,12>>")
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE "$<${gcc}:${POLYKEM_STRICT_WARNINGS}>")
  endforeach()
endfunction()
if(POLYKEM_WERROR)
  target_compile_options(polykem_warnings INTERFACE -Werror)
endif()
