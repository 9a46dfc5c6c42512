// SPDX-License-Identifier: Apache-2.0
#include "common/json_out.hpp"

#include <fmt/format.h>

#include "common/context.hpp"
#include "common/files.hpp"

namespace polykem::cli {

void write_json(const std::string& path, const Json& value) {
  if (path.empty()) return;
  const std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  OutputFiles out;
  out.add(path, ByteView(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), FileMode::kPublic);
  out.commit(true);
}

Json json_header(const std::string& schema) {
  return Json{{"schema", schema},
              {"version", polykem_version()},
              {"commit", build_commit()},
              {"compiler", compiler_name()},
              {"device", cpu_model()}};
}

}  // namespace polykem::cli
