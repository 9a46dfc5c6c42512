// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem::cli {

/// True if there is a host before the last colon and a port after it: "127.0.0.1:9464", "[::1]:9464", "localhost:0".
inline bool is_host_and_port(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const std::string port = endpoint.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  return digits && std::stoul(port) <= 65535;
}

}  // namespace polykem::cli
