# SPDX-License-Identifier: Apache-2.0
# exchange, serve and swarm; paths relative to cli/.
set(POLYKEM_CLI_NET_SOURCES
  net/batcher.cpp
  net/client_session.cpp
  net/confirm.cpp
  net/connection.cpp
  net/exchange_command.cpp
  net/exchange_inproc.cpp
  net/exchange_tcp.cpp
  net/frame.cpp
  net/inproc.cpp
  net/limits.cpp
  net/options.cpp
  net/outcome.cpp
  net/process.cpp
  net/report.cpp
  net/serve_command.cpp
  net/server.cpp
  net/server_session.cpp
  net/service_times.cpp
  net/session.cpp
  net/single.cpp
  net/stats.cpp
  net/swarm.cpp
  net/swarm_command.cpp
  net/watch.cpp)
target_sources(polykem_cli PRIVATE ${POLYKEM_CLI_NET_SOURCES})
# Handshakes are counted here: -O1 costs an exchange in one process 7 %. Options and reports would only compile longer.
set(POLYKEM_CLI_NET_HOT_SOURCES ${POLYKEM_CLI_NET_SOURCES})
list(FILTER POLYKEM_CLI_NET_HOT_SOURCES EXCLUDE REGEX "/(.*_command|limits|options|process|report|watch)[.]cpp$")
set_source_files_properties(${POLYKEM_CLI_NET_HOT_SOURCES} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
# Asio without Boost: a header-only library.
target_compile_definitions(polykem_cli PRIVATE ASIO_STANDALONE ASIO_NO_DEPRECATED)
