# SPDX-License-Identifier: Apache-2.0
# exchange, serve and swarm; paths relative to cli/.
set(POLYKEM_CLI_NET_SOURCES
  net/client_session.cpp
  net/cmd_exchange.cpp
  net/cmd_serve.cpp
  net/cmd_swarm.cpp
  net/confirm.cpp
  net/connection.cpp
  net/cost_comparison.cpp
  net/exchange_inproc.cpp
  net/exchange_tcp.cpp
  net/frame.cpp
  net/inproc.cpp
  net/limits.cpp
  net/operations.cpp
  net/options.cpp
  net/outcome.cpp
  net/process.cpp
  net/report.cpp
  net/server.cpp
  net/server_session.cpp
  net/session.cpp
  net/stats.cpp
  net/swarm.cpp
  net/watch.cpp)
# Asio without Boost: a header-only library.
target_compile_definitions(polykem_cli PRIVATE ASIO_STANDALONE ASIO_NO_DEPRECATED)
# These sources run in every handshake and are optimised; options and reports are compiled with -O1, which is quicker.
set(POLYKEM_CLI_NET_HOT_SOURCES ${POLYKEM_CLI_NET_SOURCES})
list(FILTER POLYKEM_CLI_NET_HOT_SOURCES EXCLUDE REGEX "/(cmd_.*|limits|options|process|report|watch)[.]cpp$")
list(REMOVE_ITEM POLYKEM_CLI_NET_SOURCES ${POLYKEM_CLI_NET_HOT_SOURCES})
add_library(polykem_cli_net OBJECT ${POLYKEM_CLI_NET_HOT_SOURCES})
target_include_directories(polykem_cli_net PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(polykem_cli_net PRIVATE ASIO_STANDALONE ASIO_NO_DEPRECATED)
polykem_quick_compile(-O1 polykem_cli_net)
polykem_strict_warnings(polykem_cli_net)
target_link_libraries(polykem_cli_net PRIVATE polykem_cli_common OpenSSL::Crypto Threads::Threads)
target_sources(polykem_cli PRIVATE ${POLYKEM_CLI_NET_SOURCES} $<TARGET_OBJECTS:polykem_cli_net>)
