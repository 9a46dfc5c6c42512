// SPDX-License-Identifier: Apache-2.0
// Tests objects that outlive their library context or are freed after OPENSSL_cleanup, such as a program's globals.
// Each case is a process of its own, which must end with 0.
#include <dlfcn.h>
#include <openssl/async.h>
#include <openssl/core_dispatch.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/pem.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "provider/tls_pair.hpp"

namespace {

bool is_child = false;

/// Freed after OPENSSL_cleanup, which is registered later than this and so runs earlier.
std::vector<std::shared_ptr<void>> globals;

}  // namespace

/// A hook of LeakSanitizer: a child leaves its parent's state alone, and paused jobs, which then look lost.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
  return is_child ? 1 : 0;
}

namespace polykem::provider::test {
namespace {

template <class T>
T* keep(T* object, void (*release)(T*)) {
  if (object == nullptr) throw std::runtime_error("nothing to keep: " + errors());
  globals.emplace_back(object, [release](void* p) { release(static_cast<T*>(p)); });
  return object;
}

void require(bool well) {
  if (!well) throw std::runtime_error("it did not work: " + errors());
}

EVP_PKEY* make_key(OSSL_LIB_CTX* library, const char* name) {
  const ContextPtr context(EVP_PKEY_CTX_new_from_name(library, name, nullptr));
  EVP_PKEY* key = nullptr;
  require(EVP_PKEY_keygen_init(context.get()) == 1 && EVP_PKEY_generate(context.get(), &key) == 1);
  return key;
}

EVP_PKEY* keep_key(OSSL_LIB_CTX* library, const char* name) {
  return keep(make_key(library, name), EVP_PKEY_free);
}

void hybrid_key(OSSL_LIB_CTX* library) {
  keep_key(library, hybrid_name());
}

void copied_key(OSSL_LIB_CTX* library) {
  keep(EVP_PKEY_dup(keep_key(library, hybrid_name())), EVP_PKEY_free);
}

EVP_PKEY_CTX* keep_context(OSSL_LIB_CTX* library, EVP_PKEY* key) {
  return keep(EVP_PKEY_CTX_new_from_pkey(library, key, nullptr), EVP_PKEY_CTX_free);
}

void generation(OSSL_LIB_CTX* library) {
  EVP_PKEY_CTX* context = keep(EVP_PKEY_CTX_new_from_name(library, hybrid_name(), nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  require(EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_generate(context, &key) == 1);
  keep(key, EVP_PKEY_free);
}

void sender(OSSL_LIB_CTX* library) {
  EVP_PKEY_CTX* context = keep_context(library, keep_key(library, hybrid_name()));
  std::size_t bytes = 0, secret_bytes = 0;
  require(EVP_PKEY_encapsulate_init(context, nullptr) == 1 &&
          EVP_PKEY_encapsulate(context, nullptr, &bytes, nullptr, &secret_bytes) == 1);
  Bytes ciphertext(bytes), secret(secret_bytes);
  require(EVP_PKEY_encapsulate(context, ciphertext.data(), &bytes, secret.data(), &secret_bytes) == 1);
}

void receiver(OSSL_LIB_CTX* library) {
  require(EVP_PKEY_decapsulate_init(keep_context(library, keep_key(library, hybrid_name())), nullptr) == 1);
}

void methods(OSSL_LIB_CTX* library) {
  keep(EVP_KEYMGMT_fetch(library, "mlkem768", "provider=polykem"), EVP_KEYMGMT_free);
  keep(EVP_KEM_fetch(library, "mlkem768", "provider=polykem"), EVP_KEM_free);
  keep(OSSL_ENCODER_fetch(library, "mlkem768", "provider=polykem,output=pem"), OSSL_ENCODER_free);
  keep(OSSL_DECODER_fetch(library, "mlkem768", "provider=polykem,input=der"), OSSL_DECODER_free);
}

Bytes private_der(EVP_PKEY* key) {
  Bytes out(static_cast<std::size_t>(std::max(i2d_PrivateKey(key, nullptr), 0)));
  unsigned char* to = out.data();
  require(!out.empty() && i2d_PrivateKey(key, &to) > 0);
  return out;
}

void encoder(OSSL_LIB_CTX* library) {
  EVP_PKEY* key = keep_key(library, "mlkem512");
  OSSL_ENCODER_CTX* context =
      keep(OSSL_ENCODER_CTX_new_for_pkey(key, OSSL_KEYMGMT_SELECT_KEYPAIR, "PEM", "PrivateKeyInfo", nullptr),
           OSSL_ENCODER_CTX_free);
  unsigned char* out = nullptr;
  std::size_t bytes = 0;
  require(OSSL_ENCODER_to_data(context, &out, &bytes) == 1);
  OPENSSL_clear_free(out, bytes);
}

void decoder(OSSL_LIB_CTX* library) {
  const Bytes der = private_der(keep_key(library, "mlkem512"));
  EVP_PKEY* key = nullptr;
  OSSL_DECODER_CTX* context =
      keep(OSSL_DECODER_CTX_new_for_pkey(&key, nullptr, nullptr, nullptr, 0, library, nullptr), OSSL_DECODER_CTX_free);
  const unsigned char* in = der.data();
  std::size_t bytes = der.size();
  require(OSSL_DECODER_from_data(context, &in, &bytes) == 1);
  keep(key, EVP_PKEY_free);
}

/// A key of the default provider, read with polykem's decoders in between.
void other_key(OSSL_LIB_CTX* library) {
  const KeyPtr made(EVP_PKEY_Q_keygen(library, nullptr, "EC", "P-256"));
  const Bytes der = private_der(made.get());
  const unsigned char* in = der.data();
  keep(d2i_AutoPrivateKey_ex(nullptr, &in, static_cast<long>(der.size()), library, nullptr), EVP_PKEY_free);
}

void certificate(OSSL_LIB_CTX* library) {
  X509* kept = keep(X509_new_ex(library, nullptr), X509_free);
  require(X509_set_pubkey(kept, keep_key(library, "mlkem768")) == 1 && X509_get0_pubkey(kept) != nullptr);
}

void tls_context(OSSL_LIB_CTX* library) {
  SSL_CTX* context = keep(SSL_CTX_new_ex(library, nullptr, TLS_client_method()), SSL_CTX_free);
  require(SSL_CTX_set1_groups_list(context, hybrid_name()) == 1);
}

/// Both sides of a connection, with their contexts.
Pair& keep_pair(OSSL_LIB_CTX* library, const char* group, long mode = 0) {
  return *keep(
      new Pair(library, group, group, mode), +[](Pair* pair) { delete pair; });
}

void begun_handshake(OSSL_LIB_CTX* library) {
  Pair& pair = keep_pair(library, hybrid_name());
  pair.step(pair.client.get());
}

void done_handshake(OSSL_LIB_CTX* library) {
  Pair& pair = keep_pair(library, hybrid_name());
  require(pair.handshake());
  keep(SSL_get1_session(pair.client.get()), SSL_SESSION_free);
}

void handshake_without_polykem(OSSL_LIB_CTX* library) {
  require(keep_pair(library, "X25519").handshake());
}

void paused_handshake(OSSL_LIB_CTX* library) {
  polykem_slow_device_hold();
  Pair& pair = keep_pair(library, hybrid_name(), SSL_MODE_ASYNC);
  require(pair.step(pair.client.get(), false) && pair.pauses == 1);
}

/// A job whose objects are freed before its wait context, when nothing holds the provider any more.
void paused_job(OSSL_LIB_CTX* library) {
  struct Run {
    EVP_PKEY_CTX* context;
    Bytes ciphertext, secret;
    std::size_t bytes, secret_bytes;
  };
  static Run run{};
  run.context = keep_context(library, keep_key(library, "mlkem768"));
  require(EVP_PKEY_encapsulate_init(run.context, nullptr) == 1 &&
          EVP_PKEY_encapsulate(run.context, nullptr, &run.bytes, nullptr, &run.secret_bytes) == 1);
  run.ciphertext.resize(run.bytes);
  run.secret.resize(run.secret_bytes);
  polykem_slow_device_hold();
  ASYNC_JOB* job = nullptr;
  ASYNC_WAIT_CTX* wait = keep(ASYNC_WAIT_CTX_new(), ASYNC_WAIT_CTX_free);
  int result = 0, nothing = 0;
  const auto body = [](void* /*nothing*/) {
    return EVP_PKEY_encapsulate(run.context, run.ciphertext.data(), &run.bytes, run.secret.data(), &run.secret_bytes);
  };
  require(ASYNC_start_job(&job, wait, &result, body, &nothing, sizeof nothing) == ASYNC_PAUSE);
}

void loaded_provider(OSSL_LIB_CTX* library) {
  require(OSSL_PROVIDER_load(library, "polykem") != nullptr);
  keep_key(library, "ntruhps2048509");
}

struct Kind {
  const char* name;
  void (*make)(OSSL_LIB_CTX* library);
};
const Kind kKinds[] = {
    {"HybridKey", hybrid_key},
    {"CopiedKey", copied_key},
    {"Generation", generation},
    {"Sender", sender},
    {"Receiver", receiver},
    {"Methods", methods},
    {"Encoder", encoder},
    {"Decoder", decoder},
    {"OtherKey", other_key},
    {"Certificate", certificate},
    {"TlsContext", tls_context},
    {"BegunHandshake", begun_handshake},
    {"DoneHandshake", done_handshake},
    {"HandshakeWithoutPolykem", handshake_without_polykem},
    {"PausedHandshake", paused_handshake},
    {"PausedJob", paused_job},
    {"LoadedProvider", loaded_provider},
};

/// Runs `body` in a child that then ends by exit(), with all destructors. Returns the child's status from waitpid().
int status_of_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    is_child = true;
    alarm(100);
    try {
      body();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(1);
    }
    exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

/// The default context, as openssl.cnf fills it.
void load_into_default(const std::string& more = "") {
  OSSL_PROVIDER_set_default_search_path(nullptr, POLYKEM_MODULES);
  const ConfigFile file("activate = 1\n" + more);
  require(OSSL_LIB_CTX_load_config(nullptr, file.path()) == 1 && OSSL_PROVIDER_available(nullptr, "polykem") == 1);
}

class Outlives : public testing::TestWithParam<Kind> {};

TEST_P(Outlives, TheProcess) {
  EXPECT_EQ(status_of_child([] {
              load_into_default();
              GetParam().make(nullptr);
            }),
            0);
}

TEST_P(Outlives, Cleanup) {
  EXPECT_EQ(status_of_child([] {
              load_into_default();
              GetParam().make(nullptr);
              OPENSSL_cleanup();
              globals.clear();
            }),
            0);
}

TEST_P(Outlives, ItsContext) {
  EXPECT_EQ(status_of_child([] {
              {
                const Library library;
                GetParam().make(library.get());
              }
              globals.clear();
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(All, Outlives, testing::ValuesIn(kKinds), [](const auto& info) { return info.param.name; });

TEST(Exit, FromAnotherThreadWhileAJobPauses) {
  EXPECT_EQ(status_of_child([] {
              load_into_default();
              paused_handshake(nullptr);
              std::thread([] { exit(0); }).join();
            }),
            0);
}

TEST(Exit, WritesStatisticsWhileAKeyIsLeft) {
  const std::filesystem::path folder = testing::TempDir() + "polykem-at-exit-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  EXPECT_EQ(status_of_child([&] {
              load_into_default("statistics = " + (folder / "of").string());
              hybrid_key(nullptr);
            }),
            0);
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    std::getline(std::ifstream(file.path()), text);
  EXPECT_NE(text.find("keygen"), std::string::npos) << text;  // which has happened since the first operation began
  std::filesystem::remove_all(folder);
}

/// Threads that never end, each with a context that nobody frees.
void compute_forever(EVP_PKEY* key) {
  for (int i = 0; i < 3; ++i) {
    EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr);
    std::size_t bytes = 0, secret_bytes = 0;
    require(EVP_PKEY_encapsulate_init(context, nullptr) == 1 &&
            EVP_PKEY_encapsulate(context, nullptr, &bytes, nullptr, &secret_bytes) == 1);
    std::thread([=]() mutable {
      Bytes ciphertext(bytes), secret(secret_bytes);
      for (;;)
        EVP_PKEY_encapsulate(context, ciphertext.data(), &bytes, secret.data(), &secret_bytes);
    }).detach();
  }
}

TEST(Exit, FromAnotherThreadWhileOthersCompute) {
  EXPECT_EQ(status_of_child([] {
              load_into_default();
              compute_forever(make_key(nullptr, "frodokem640shake"));
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
              std::thread([] { exit(0); }).join();
            }),
            0);
}

/// A server that loads the provider and forks, and whose child ends normally.
TEST(Exit, OfAChildOfTheLoader) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer's allocator may be locked by a thread that the child does not have";
#endif
  EXPECT_EQ(status_of_child([] {
              load_into_default();
              hybrid_key(nullptr);
              require(status_of_child([] {}) == 0);
              require(status_of_child([] { done_handshake(nullptr); }) == 0);
              hybrid_key(nullptr);
            }),
            0);
}

// ---- a fork while the provider's end is under way

std::atomic<bool> is_ending{false};

/// Called by the provider while it holds its lock.
int slow_up_ref(const OSSL_CORE_HANDLE* /*handle*/, int /*activate*/) {
  is_ending = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return 1;
}

int begin_with_slow_up_ref(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* in, const OSSL_DISPATCH** out,
                           void** context) {
  std::vector<OSSL_DISPATCH> core;
  for (; in->function_id != 0; ++in) {
    core.push_back(*in);
    if (in->function_id == OSSL_FUNC_PROVIDER_UP_REF) core.back().function = reinterpret_cast<void (*)()>(slow_up_ref);
  }
  core.push_back({0, nullptr});
  void* module = dlopen(POLYKEM_MODULES "/polykem.so", RTLD_NOW);
  return reinterpret_cast<OSSL_provider_init_fn*>(dlsym(module, "OSSL_provider_init"))(handle, core.data(), out,
                                                                                       context);
}

/// The child frees a library context; the thread that held the lock is not in it.
int status_of_fork_meanwhile(Library* library) {
  while (!is_ending)
    std::this_thread::yield();
  return status_of_child([library] {
    alarm(10);
    delete library;
    _exit(0);
  });
}

TEST(Exit, AForkMeanwhileHasNoLockHeld) {
  EXPECT_EQ(status_of_child([] {
              static std::thread* forks = nullptr;
              static int status = -1;
              const auto join = [] {
                forks->join();
                if (status != 0) _exit(1);
              };
              // Called in between: after the end of the module, which is loaded later, and before OPENSSL_cleanup.
              require(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr) == 1 && std::atexit(join) == 0);
              auto* const library = new Library("", begin_with_slow_up_ref);
              forks = new std::thread([library] { status = status_of_fork_meanwhile(library); });
            }),
            0);
}

}  // namespace
}  // namespace polykem::provider::test
