# SPDX-License-Identifier: Apache-2.0
# What is installed: two headers, the shared and the static library, a CMake package, pkg-config files, the pages and
# examples, and with the program its man pages and completion. tests/install/files.txt is the list.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The header says its version to the preprocessor, in numbers of its own.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/polykem/polykem.h)
foreach(part MAJOR MINOR PATCH)
  file(STRINGS include/polykem/polykem.h line REGEX "^#define POLYKEM_VERSION_${part} ")
  if(NOT line STREQUAL "#define POLYKEM_VERSION_${part} ${PROJECT_VERSION_${part}}")
    message(FATAL_ERROR "include/polykem/polykem.h says '${line}', and CMakeLists.txt version ${PROJECT_VERSION}")
  endif()
endforeach()

polykem_shared_library(polykem_shared)
set_target_properties(polykem_shared PROPERTIES EXPORT_NAME shared)
set_target_properties(polykem_static PROPERTIES EXPORT_NAME static)

if(NOT POLYKEM_INSTALL)
  return()
endif()

set(POLYKEM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/polykem)
install(DIRECTORY include/polykem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp"
        PATTERN embedded.h EXCLUDE)  # its library is for another machine
install(
  TARGETS polykem_static polykem_shared
  EXPORT polykemTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT polykemTargets NAMESPACE polykem:: DESTINATION ${POLYKEM_PACKAGE_DIR})
configure_package_config_file(cmake/polykemConfig.cmake.in ${PROJECT_BINARY_DIR}/polykemConfig.cmake
                              INSTALL_DESTINATION ${POLYKEM_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/polykemConfigVersion.cmake
                                 COMPATIBILITY ${POLYKEM_COMPATIBILITY})
install(FILES ${PROJECT_BINARY_DIR}/polykemConfig.cmake ${PROJECT_BINARY_DIR}/polykemConfigVersion.cmake
        DESTINATION ${POLYKEM_PACKAGE_DIR})

# The pkg-config file finds its prefix from its own place, so that an installed tree may be moved.
file(RELATIVE_PATH POLYKEM_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" POLYKEM_PC_TO_PREFIX "${POLYKEM_PC_TO_PREFIX}")
foreach(name polykem polykem-static)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# The pages keep their places, so that their links work.
install(FILES LICENSE README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md SOUNDNESS.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.png"
        PATTERN man EXCLUDE
        PATTERN completion EXCLUDE)
install(FILES examples/batch.c examples/device_arrays.c examples/server.cpp
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(DIRECTORY ckks/bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/ckks/bench)
install(FILES ckks/README.md ckks/figures.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/ckks)
foreach(folder ckks/openfhe ckks/src ckks/src/cuda research research/seong2021 research/frodo_cuda research/lab
        tools/m4cycles cli provider tests src/accelerators src/broker src/embedded src/engine src/prim src/prim/ecdh
        src/prim/keccak src/schemes/ntru src/schemes/mlkem src/schemes/frodo src/schemes/hybrid src/schemes/lac
        src/schemes/mldsa src/schemes/saber)
  install(FILES ${folder}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
if(POLYKEM_BUILD_CLI)
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 FILES_MATCHING PATTERN "*.8")
  # The unit names the program by its whole path, which is known when it is installed.
  install(CODE "set(POLYKEM_SBIN \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_SBINDIR}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/cli/daemon/polykemd.service.in\"
                   \"${PROJECT_BINARY_DIR}/polykemd.service\" @ONLY)")
  install(FILES ${PROJECT_BINARY_DIR}/polykemd.service cli/daemon/polykemd.socket DESTINATION lib/systemd/system)
  install(FILES docs/grafana_polykem.json DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
  install(FILES docs/completion/polykem.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME polykem)
  install(FILES docs/completion/_polykem DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES docs/completion/polykem.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
