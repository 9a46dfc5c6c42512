# SPDX-License-Identifier: Apache-2.0
# What is installed: two headers, the shared and the static library, a CMake package, pkg-config files, pages and
# examples for users, and with the program its man pages and completion. tests/install/files.txt is the list.
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

# Components, for packages: library, development, program, provider, documentation; cuda and rtl, the modules that the
# library loads; python (python/CMakeLists.txt).
set(POLYKEM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/polykem)
install(DIRECTORY include/polykem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp"
        PATTERN embedded.h EXCLUDE)  # its library is for another machine
install(
  TARGETS polykem_static polykem_shared
  EXPORT polykemTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT polykemTargets NAMESPACE polykem:: DESTINATION ${POLYKEM_PACKAGE_DIR} COMPONENT development)
configure_package_config_file(cmake/polykemConfig.cmake.in ${PROJECT_BINARY_DIR}/polykemConfig.cmake
                              INSTALL_DESTINATION ${POLYKEM_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/polykemConfigVersion.cmake
                                 COMPATIBILITY ${POLYKEM_COMPATIBILITY})
install(FILES ${PROJECT_BINARY_DIR}/polykemConfig.cmake ${PROJECT_BINARY_DIR}/polykemConfigVersion.cmake
        DESTINATION ${POLYKEM_PACKAGE_DIR} COMPONENT development)

# The pkg-config file finds its prefix from its own place, so that an installed tree may be moved.
file(RELATIVE_PATH POLYKEM_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" POLYKEM_PC_TO_PREFIX "${POLYKEM_PC_TO_PREFIX}")
set(names polykem polykem-static)
if(POLYKEM_CKKS)
  list(APPEND names polykem-ckks)
endif()
foreach(name IN LISTS names)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

# What users read, and the pictures and examples that it shows.
file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/*.md)
list(APPEND pages README.md CHANGELOG.md SECURITY.md SOUNDNESS.md)
set(examples
    examples/batch.c examples/device_arrays.c examples/server.cpp examples/sign.cpp examples/go/go.mod
    examples/go/main.go examples/go/polykem/polykem.go examples/go/polykem/polykem_test.go examples/rust/Cargo.lock
    examples/rust/Cargo.toml examples/rust/batch/Cargo.toml examples/rust/batch/src/lib.rs
    examples/rust/batch/src/main.rs examples/rust/batch/tests/exchange.rs examples/rust/polykem-sys/Cargo.toml
    examples/rust/polykem-sys/build.rs examples/rust/polykem-sys/src/lib.rs examples/rust/polykem-sys/tests/header.rs)
set(others LICENSE docs/report.png docs/grafana_polykem.json docs/alerts_polykem.yml
           bench/results/cpu_peers.svg bench/results/tls_crowd.svg
           bench/results/h200_tls_crowd.svg bench/results/zen5_frodo_scaling.svg ${examples})
if(POLYKEM_CKKS)
  list(APPEND pages ckks/README.md ckks/figures.md)
  list(APPEND others ckks/examples/ckks.c)
endif()
foreach(file IN LISTS others)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT documentation)
endforeach()
install(FILES cli/daemon/polykemd.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT documentation)
install(CODE "set(source \"${PROJECT_SOURCE_DIR}\")
  set(destination \"${CMAKE_INSTALL_DOCDIR}\")
  set(scratch \"${PROJECT_BINARY_DIR}/pages\")
  set(pages \"${pages}\")
  set(others \"${others}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/install_pages.cmake\")"
        COMPONENT documentation)

if(POLYKEM_BUILD_CLI)
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1")
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT program FILES_MATCHING PATTERN "*.8")
  # The unit names the program by its whole path, which is known when it is installed.
  install(CODE "set(POLYKEM_SBIN \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_SBINDIR}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/cli/daemon/polykemd.service.in\"
                   \"${PROJECT_BINARY_DIR}/polykemd.service\" @ONLY)"
          COMPONENT program)
  install(FILES ${PROJECT_BINARY_DIR}/polykemd.service cli/daemon/polykemd.socket DESTINATION lib/systemd/system
          COMPONENT program)
  install(FILES docs/completion/polykem.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME polykem COMPONENT program)
  install(FILES docs/completion/_polykem DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
  install(FILES docs/completion/polykem.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          COMPONENT program)
endif()
