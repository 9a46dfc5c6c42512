# SPDX-License-Identifier: Apache-2.0
# cmake -DARCHS=N -DMODULE=FILE -P module_size.cmake: fails if a module with code for N architectures, PTX of one
# included, is larger than docs/gpu.md promises: 12 MB for one, 8 MB for each other one, so 60 MB for all seven.
math(EXPR bound "(4 + 8 * ${ARCHS}) * 1000000")
file(SIZE ${MODULE} size)
if(size GREATER bound)
  message(FATAL_ERROR "${MODULE} has ${size} bytes; for ${ARCHS} architectures it may have ${bound}")
endif()
