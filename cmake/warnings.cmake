# SPDX-License-Identifier: Apache-2.0
# polykem_warnings: the warnings that all C and C++ of this project is compiled with, and nobody else's.
include_guard(GLOBAL)
option(POLYKEM_WERROR "Warnings are errors" OFF)
add_library(polykem_warnings INTERFACE)
target_compile_options(polykem_warnings INTERFACE -Wall -Wextra)
if(POLYKEM_WERROR)
  target_compile_options(polykem_warnings INTERFACE -Werror)
endif()
