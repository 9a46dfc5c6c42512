# SPDX-License-Identifier: Apache-2.0
#
# For wheels: links for an older glibc than this machine's, by stubs that tools/package/link_stubs.py made in the folder
# POLYKEM_LINK_STUBS. polykem_old_glibc has what that one lacks. The C++ runtime is linked statically and exports
# nothing. Threads, dlopen() and shm_open() were in libraries of their own then, which nothing
# names by itself.
set(POLYKEM_LINK_STUBS "" CACHE PATH "Link Python's extension and the CUDA modules for the glibc of these stubs")
if(POLYKEM_LINK_STUBS)
  set(folder ${PROJECT_SOURCE_DIR}/tools/package)
  add_library(polykem_old_glibc OBJECT ${folder}/old_glibc.cpp)
  set(POLYKEM_STUBS_LINKER_OPTIONS --version-script=${folder}/exports.map --push-state --no-as-needed
                                   -l:libpthread.so.0 -l:libdl.so.2 -l:librt.so.1 --pop-state)
  list(JOIN POLYKEM_STUBS_LINKER_OPTIONS "," POLYKEM_STUBS_LINKER_OPTIONS)
endif()
