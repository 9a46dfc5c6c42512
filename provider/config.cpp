// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "config_file.hpp"
#include "core.hpp"

namespace polykem::provider {

namespace {

constexpr std::uint64_t kMaxThreads = 1024;  // polykem_config
constexpr std::uint64_t kMaxMicroseconds = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxLinger = 100000;  // a handshake has two operations, for which the client waits
constexpr std::uint64_t kMaxItems = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxBatchItems = 65536;
constexpr std::uint64_t kMaxCodePoint = 0xFFFF;
constexpr const char* kGroupPrefix = "groups.";

constexpr const char* kKeys[] = {"backend",     "threads",         "deadline_us", "linger_us",
                                 "batch_items", "high_water",      "hard_limit",  "broker",
                                 "async",       "abandoned_limit", "statistics",  "verify_after_sign"};
/// The keys of a provider's section that OpenSSL itself reads.
constexpr const char* kOpensslKeys[] = {"identity", "module", "activate", "soft_load"};

[[noreturn]] void fail(const std::string& key, const std::string& value, const std::string& what) {
  throw ConfigError("openssl.cnf: " + key + " = " + value + ": " + what);
}

/// Parses a number: decimal, hexadecimal after 0x, or octal after 0.
std::uint64_t parse_number(const std::string& key, const char* text, std::uint64_t min, std::uint64_t max) {
  char* end = nullptr;
  errno = 0;
  const bool begins = *text >= '0' && *text <= '9';
  const unsigned long long value = begins ? std::strtoull(text, &end, 0) : 0;
  if (!begins || *end != '\0' || errno != 0 || value < min || value > max)
    fail(key, text, "not a number from " + std::to_string(min) + " to " + std::to_string(max));
  return value;
}

template <class Number>
void read_number(const CoreParameters& core, const char* key, Number& out, std::uint64_t max) {
  if (const char* text = core.get(key); text != nullptr) out = static_cast<Number>(parse_number(key, text, 0, max));
}

void read_backend(const CoreParameters& core, Config& config) {
  const char* text = core.get("backend");
  if (text == nullptr) return;
  config.backend = text;
  if (config.backend == "cuda") {
    if (const char* missing = polykem_backend_missing("cuda"); missing != nullptr) fail("backend", text, missing);
    return;
  }
  // CPU backends are last in the library's list. Asking about the first would open the GPU's driver, and a server may
  // still have to fork.
  std::string known = "cuda";
  for (std::size_t i = polykem_backend_count(); i-- > 1;) {
    polykem_backend_info_t info{};
    info.struct_size = sizeof info;
    if (polykem_backend_info(i, &info) != POLYKEM_OK) continue;
    known.append(", ").append(info.name);
    if (config.backend != info.name) continue;
    if (info.available == 0) fail("backend", text, std::string("not on this machine: it needs ") + info.requirements);
    return;
  }
  fail("backend", text, "no such backend; there are " + known);
}

void read_broker(const CoreParameters& core, Config& config) {
  const char* text = core.get("broker");
  if (text == nullptr) return;
  config.broker = text;
  if (config.broker[0] != '/' || config.broker.size() >= sizeof(sockaddr_un::sun_path))
    fail("broker", text,
         "not the absolute path of a Unix socket, of less than " + std::to_string(sizeof(sockaddr_un::sun_path)) +
             " bytes");
}

void read_statistics(const CoreParameters& core, Config& config) {
  const char* text = core.get("statistics");
  if (text == nullptr) return;
  config.statistics = text;
  if (config.statistics[0] != '/') fail("statistics", text, "not an absolute path");
}

void read_switch(const CoreParameters& core, const char* key, bool& out) {
  const char* text = core.get(key);
  if (text == nullptr) return;
  const std::string_view value = text;
  if (value != "on" && value != "off") fail(key, text, "expected 'on' or 'off'");
  out = value == "on";
}

void read_groups(const CoreParameters& core, Offer& offer) {
  for (Group& group : offer.groups) {
    const std::string key = kGroupPrefix + group.name;
    const char* text = core.get(key.c_str());
    if (text == nullptr) continue;
    group.id = std::string_view(text) == "off" ? 0 : static_cast<unsigned>(parse_number(key, text, 1, kMaxCodePoint));
  }
  for (const Group& group : offer.groups) {
    for (const Group* other = offer.groups.data(); other != &group && group.id != 0; ++other) {
      if (other->id == group.id)
        fail(kGroupPrefix + group.name, std::to_string(group.id), "the group " + other->name + " has that code point");
    }
  }
}

bool is_known(const std::string& key, const Offer& offer) {
  const auto same = [&](const char* known) { return key == known; };
  if (std::any_of(std::begin(kKeys), std::end(kKeys), same) ||
      std::any_of(std::begin(kOpensslKeys), std::end(kOpensslKeys), same))
    return true;
  return std::any_of(offer.groups.begin(), offer.groups.end(),
                     [&](const Group& group) { return key == kGroupPrefix + group.name; });
}

/// Finds unknown keys. OpenSSL tells a provider the value of a key but does not list the keys, so they are read from
/// the file. The program may have loaded another file, so only keys that OpenSSL knows too count.
void check_keys(const CoreParameters& core, const Offer& offer) {
  const char* provider = core.get(OSSL_PROV_PARAM_CORE_PROV_NAME);
  if (provider == nullptr) return;
  const DefaultFile file = default_file(provider);
  for (const std::string& key : file.keys) {
    if (is_known(key, offer) || core.get(key.c_str()) == nullptr) continue;
    if (key.rfind(kGroupPrefix, 0) == 0) throw ConfigError(file.path + ": " + key + ": there is no such group");
    std::string known;
    for (const char* each : kKeys)
      known.append(each).append(", ");
    throw ConfigError(file.path + ": " + key + ": no such key; there are " + known + kGroupPrefix + "NAME");
  }
}

}  // namespace

CoreParameters::CoreParameters(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core)
    : handle_(handle), get_params_(core_function<OSSL_FUNC_core_get_params_fn>(core, OSSL_FUNC_CORE_GET_PARAMS)) {}

const char* CoreParameters::get(const char* key) const {
  char* value = nullptr;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr(key, &value, 0), OSSL_PARAM_construct_end()};
  return get_params_ != nullptr && get_params_(handle_, params) == 1 ? value : nullptr;
}

Config read_config(const CoreParameters& core, Offer& offer) {
  Config config;
  check_keys(core, offer);
  read_backend(core, config);
  read_number(core, "threads", config.threads, kMaxThreads);
  read_number(core, "deadline_us", config.deadline_us, kMaxMicroseconds);
  read_number(core, "linger_us", config.linger_us, kMaxLinger);
  read_number(core, "batch_items", config.batch_items, kMaxBatchItems);
  read_number(core, "high_water", config.high_water, kMaxItems);
  read_number(core, "hard_limit", config.hard_limit, kMaxItems);
  read_broker(core, config);
  read_switch(core, "async", config.async);
  read_switch(core, "verify_after_sign", config.verify_after_sign);
  read_number(core, "abandoned_limit", config.abandoned_limit, kMaxItems);
  read_statistics(core, config);
  read_groups(core, offer);
  return config;
}

}  // namespace polykem::provider
