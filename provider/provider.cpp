// SPDX-License-Identifier: Apache-2.0
// The entry point, which OpenSSL calls when it loads the provider.
#include "provider.hpp"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/opensslv.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

#include "formats/keys.hpp"
#include "tables.hpp"

namespace polykem::provider {

namespace {

const OSSL_PARAM* gettable_params(void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, nullptr, 0),
                                    OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, nullptr, 0),
                                    OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, nullptr, 0),
                                    OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, nullptr), OSSL_PARAM_END};
  return list;
}

int get_params(void* /*provider*/, OSSL_PARAM params[]) {
  const auto set = [&](const char* name, const char* value) {
    OSSL_PARAM* param = OSSL_PARAM_locate(params, name);
    return param == nullptr || OSSL_PARAM_set_utf8_ptr(param, value) == 1;
  };
  OSSL_PARAM* status = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
  return set(OSSL_PROV_PARAM_NAME, "polykem: ML-KEM, ML-DSA, NTRU and FrodoKEM") &&
         set(OSSL_PROV_PARAM_VERSION, polykem_version()) && set(OSSL_PROV_PARAM_BUILDINFO, polykem_version()) &&
         (status == nullptr || OSSL_PARAM_set_int(status, 1) == 1);
}

const OSSL_ALGORITHM* query_operation(void* provider, int operation, int* no_cache) {
  *no_cache = 0;
  switch (operation) {
    case OSSL_OP_KEYMGMT:
      return as_provider(provider).key_managers.data();
    case OSSL_OP_KEM:
      return as_provider(provider).kems.data();
    case OSSL_OP_SIGNATURE:
      return as_provider(provider).signatures.data();
    case OSSL_OP_ENCODER:
      return as_provider(provider).encoders.data();
    case OSSL_OP_DECODER:
      return as_provider(provider).decoders.data();
    default:
      return nullptr;
  }
}

const OSSL_ITEM* get_reason_strings(void* /*provider*/) {
  return reason_strings();
}

/// The loaded instances, and those that stay loaded until the process ends, so that leak checkers find them. Never
/// destroyed.
struct Loaded {
  std::mutex mutex;
  std::vector<std::pair<Provider*, OSSL_FUNC_provider_up_ref_fn*>> instances;
  std::vector<Provider*> staying;
};
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

/// OpenSSL tears a provider down with its last object. A program's globals may be freed after OPENSSL_cleanup, when
/// what OpenSSL needs for that no longer exists. So each instance gets a reference that is never released.
void stay_loaded() {
  std::unique_lock lock(loaded().mutex);
  auto staying = std::exchange(loaded().instances, {});
  std::erase_if(staying, [](const auto& each) {
    const auto& [provider, up_ref] = each;
    return up_ref == nullptr || up_ref(provider->handle, 0) <= 0;  // the count, or 1
  });
  for (const auto& [provider, up_ref] : staying)
    loaded().staying.push_back(provider);
  lock.unlock();
  for (const auto& [provider, up_ref] : staying)
    provider->compute->end();
}

/// Handlers for programs that call OPENSSL_cleanup themselves, and for forks, so that a child finds the mutex free even
/// if another thread held it.
bool register_handlers() {
  if (pthread_atfork([] { loaded().mutex.lock(); }, [] { loaded().mutex.unlock(); }, [] { loaded().mutex.unlock(); }) !=
      0)
    throw std::bad_alloc();
  return OPENSSL_atexit(stay_loaded) == 1;
}

/// Destroyed before OPENSSL_cleanup runs, because the module is loaded after libcrypto has registered that.
const struct AtExit {
  ~AtExit() { stay_loaded(); }
} kAtExit;

void add_loaded(Provider* provider, const OSSL_DISPATCH* core) {
  [[maybe_unused]] static const bool once = register_handlers();
  const std::lock_guard lock(loaded().mutex);
  loaded().instances.emplace_back(provider,
                                  core_function<OSSL_FUNC_provider_up_ref_fn>(core, OSSL_FUNC_PROVIDER_UP_REF));
}

void teardown(void* provider) {
  {
    const std::lock_guard lock(loaded().mutex);
    auto& all = loaded().instances;
    all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& each) { return each.first == provider; }),
              all.end());
  }
  delete static_cast<Provider*>(provider);
}

/// True if the program's libcrypto, which may not be ours, has ML-KEM, as OpenSSL 3.5 and newer do.
bool has_builtin_mlkem(const CoreParameters& core) {
  unsigned major = OPENSSL_version_major(), minor = OPENSSL_version_minor();
  if (const char* version = core.get(OSSL_PROV_PARAM_CORE_VERSION); version != nullptr)
    std::sscanf(version, "%u.%u", &major, &minor);
  return major > 3 || (major == 3 && minor >= 5);
}

/// Registers the object identifiers of signatures with OpenSSL before 3.5, which could not verify certificates without
/// them. Later versions have them.
void name_objects(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core, const Offer& offer) {
  auto* const create = core_function<OSSL_FUNC_core_obj_create_fn>(core, OSSL_FUNC_CORE_OBJ_CREATE);
  auto* const add_signature = core_function<OSSL_FUNC_core_obj_add_sigid_fn>(core, OSSL_FUNC_CORE_OBJ_ADD_SIGID);
  if (create == nullptr || add_signature == nullptr) return;
  for (const Algorithm& each : offer.algorithms) {
    if (!each.signs()) continue;
    const std::string identifier = formats::object_identifier(each.scheme);
    create(handle, identifier.c_str(), formats::identifier_name(each.scheme), each.name.c_str());
    add_signature(handle, identifier.c_str(), "", identifier.c_str());
  }
}

const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_provider_teardown_fn>(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
      entry<OSSL_FUNC_provider_gettable_params_fn>(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable_params),
      entry<OSSL_FUNC_provider_get_params_fn>(OSSL_FUNC_PROVIDER_GET_PARAMS, get_params),
      entry<OSSL_FUNC_provider_query_operation_fn>(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query_operation),
      entry<OSSL_FUNC_provider_get_reason_strings_fn>(OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, get_reason_strings),
      entry<OSSL_FUNC_provider_get_capabilities_fn>(OSSL_FUNC_PROVIDER_GET_CAPABILITIES, get_capabilities),
      {0, nullptr},
  };
  return table;
}

std::unique_ptr<Provider> make_provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in) {
  auto provider = std::make_unique<Provider>(handle, in);
  const CoreParameters core(handle, in);
  const bool builtin = has_builtin_mlkem(core);
  provider->offer = make_offer(builtin);
  if (!builtin) name_objects(handle, in, provider->offer);
  provider->compute = std::make_unique<Compute>(read_config(core, provider->offer));
  provider->key_managers = key_manager_table(provider->offer);
  provider->kems = kem_table(provider->offer);
  provider->signatures = signature_table(provider->offer);
  provider->encoders = encoder_table(provider->offer);
  provider->decoders = decoder_table(provider->offer);
  return provider;
}

}  // namespace

}  // namespace polykem::provider

extern "C" __attribute__((visibility("default"))) int OSSL_provider_init(const OSSL_CORE_HANDLE* handle,
                                                                         const OSSL_DISPATCH* in,
                                                                         const OSSL_DISPATCH** out, void** context) {
  using namespace polykem::provider;  // NOLINT(google-build-using-namespace)
  const Errors errors(handle, in);
  return guarded(errors, [&]() -> int {
    try {
      std::unique_ptr<Provider> provider = make_provider(handle, in);
      add_loaded(provider.get(), in);
      *context = provider.release();
    } catch (const ConfigError& e) {
      errors.raise(Reason::kConfiguration, "%s", e.what());
      return 0;
    }
    *out = functions();
    return 1;
  });
}
