# SPDX-License-Identifier: Apache-2.0
#
# cmake -P cmake/build_info.cmake: prints the commit of the sources and a hash of those that the CUDA module is built
# from, as they are on disk: the first 16 digits of the SHA-256 of what `sha256sum` prints of all files of
# src and include with these extensions, sorted by name. -DFOLDERS=FOLDER,FOLDER... names other folders.
# With -DOUTPUT=FILE it writes both into a C++ source instead.
# -DCOMMIT=... states the commit where there is no repository.
cmake_minimum_required(VERSION 3.22)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
if(NOT FOLDERS)
  set(FOLDERS src,include)
endif()
string(REPLACE "," ";" FOLDERS ${FOLDERS})
set(files)
foreach(folder IN LISTS FOLDERS)
  foreach(extension c cpp cu cuh h hpp)
    file(GLOB_RECURSE found RELATIVE ${root} ${root}/${folder}/*.${extension})
    list(APPEND files ${found})
  endforeach()
endforeach()
list(SORT files)
set(sums)
foreach(file IN LISTS files)
  file(SHA256 ${root}/${file} sum)
  string(APPEND sums "${sum}  ${file}\n")
endforeach()
string(SHA256 sources "${sums}")
string(SUBSTRING ${sources} 0 16 sources)
if(NOT COMMIT)
  execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${root} OUTPUT_VARIABLE COMMIT
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT COMMIT)
  set(COMMIT unknown)
endif()
if(OUTPUT)
  file(WRITE ${OUTPUT} "#include \"core/build_info.hpp\"
namespace polykem {
const BuildInfo kBuild{\"${COMMIT}\", \"${sources}\"};
}
")
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${COMMIT} ${sources}")
endif()
