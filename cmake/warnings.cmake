# SPDX-License-Identifier: Apache-2.0
# polykem_warnings: the warnings that all C and C++ of this project is compiled with, and nobody else's.
include_guard(GLOBAL)
option(POLYKEM_WERROR "Warnings are errors" OFF)
add_library(polykem_warnings INTERFACE)
target_compile_options(polykem_warnings INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # which warns where GCC's library uses what it deprecates itself
  target_compile_options(polykem_warnings INTERFACE -Wno-deprecated-declarations)
endif()
if(POLYKEM_WERROR)
  target_compile_options(polykem_warnings INTERFACE -Werror)
endif()
