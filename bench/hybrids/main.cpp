// SPDX-License-Identifier: Apache-2.0
// Measures the hybrids of TLS 1.3 on one core: polykem with one item and 1,024 at a time and, in turn, OpenSSL's own if
// it has them (3.5 and newer), one at a time. Medians of nine rounds. Both sides must have the same secrets.
//
//   polykem_bench_hybrids [--backend NAME]... [FILE.json]
//
// --backend: the backend of polykem (avx512, avx2, ref), or several, one after the other. The default is the best one
// of this machine.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <polykem/polykem.hpp>
#include <string>
#include <vector>

namespace {

using namespace polykem;

constexpr int kRounds = 9;
constexpr std::size_t kBatch = 1024;
constexpr const char* kSets[] = {"X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "polykem_bench_hybrids: %s\n", what);
  std::exit(1);
}
void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

struct Free {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(EVP_PKEY_CTX* p) const { EVP_PKEY_CTX_free(p); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using ContextPtr = std::unique_ptr<EVP_PKEY_CTX, Free>;

/// A hybrid of OpenSSL. Public keys are made from shares, as in TLS.
class Openssl {
 public:
  explicit Openssl(const char* name) : name_(name) {}

  bool available() const {
    const ContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, name_, nullptr));
    return context && EVP_PKEY_keygen_init(context.get()) == 1;
  }
  KeyPtr generate() const {
    const ContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, name_, nullptr));
    EVP_PKEY* key = nullptr;
    require(EVP_PKEY_keygen_init(context.get()) == 1 && EVP_PKEY_keygen(context.get(), &key) == 1, "OpenSSL's keygen");
    return KeyPtr(key);
  }
  static Bytes share(EVP_PKEY* key) {
    unsigned char* bytes = nullptr;
    const std::size_t size = EVP_PKEY_get1_encoded_public_key(key, &bytes);
    Bytes out(bytes, bytes + size);
    OPENSSL_free(bytes);
    return out;
  }
  KeyPtr from_share(const std::uint8_t* bytes, std::size_t size) const {
    const ContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, name_, nullptr));
    EVP_PKEY* key = nullptr;
    require(EVP_PKEY_paramgen_init(context.get()) == 1 && EVP_PKEY_paramgen(context.get(), &key) == 1 &&
                EVP_PKEY_set1_encoded_public_key(key, bytes, size) == 1,
            "OpenSSL's key from a share");
    return KeyPtr(key);
  }
  static void encaps(EVP_PKEY* key, Bytes& ct, SecretBytes& ss) {
    const ContextPtr context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
    std::size_t ct_bytes = ct.size(), ss_bytes = ss.size();
    require(EVP_PKEY_encapsulate_init(context.get(), nullptr) == 1 &&
                EVP_PKEY_encapsulate(context.get(), ct.data(), &ct_bytes, ss.data(), &ss_bytes) == 1,
            "OpenSSL's encapsulation");
  }
  static void decaps(EVP_PKEY* key, const std::uint8_t* ct, std::size_t ct_bytes, SecretBytes& ss) {
    const ContextPtr context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
    std::size_t ss_bytes = ss.size();
    require(EVP_PKEY_decapsulate_init(context.get(), nullptr) == 1 &&
                EVP_PKEY_decapsulate(context.get(), ss.data(), &ss_bytes, ct, ct_bytes) == 1,
            "OpenSSL's decapsulation");
  }

 private:
  const char* name_;
};

/// Returns the items per second of a call that computes `items`, measured for at least 50 ms.
double rate(std::size_t items, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::size_t done = 0;
  std::chrono::duration<double> time{};
  do {
    call();
    done += items;
    time = Clock::now() - start;
  } while (time.count() < 0.05);
  return static_cast<double>(done) / time.count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Row {
  const char *set, *op;
  std::string backend;
  double batch = 0, single = 0, openssl = 0;
};

std::vector<Row> measure(const char* name, const std::string& backend) {
  const Context context(1, backend);
  const Scheme scheme = Scheme::find(name);
  const std::size_t pk_bytes = scheme.public_key_bytes(), sk_bytes = scheme.secret_key_bytes();
  const KeyPairs keys = context.keygen(scheme, kBatch);
  const Bytes one_pk(keys.pk.begin(), keys.pk.begin() + static_cast<std::ptrdiff_t>(pk_bytes));
  const SecretBytes one_sk(keys.sk.begin(), keys.sk.begin() + static_cast<std::ptrdiff_t>(sk_bytes));
  const Encapsulations made = context.encaps(scheme, kBatch, KeyMode::kPerItem, keys.pk);
  const Bytes one_ct(made.ct.begin(), made.ct.begin() + static_cast<std::ptrdiff_t>(scheme.ciphertext_bytes()));
  require(context.decaps(scheme, kBatch, KeyMode::kPerItem, keys.sk, made.ct).ss == made.ss, "both sides of a batch");

  const Openssl openssl(name);
  KeyPtr own, peer;
  Bytes ct(scheme.ciphertext_bytes());
  SecretBytes ss(scheme.shared_secret_bytes());
  if (openssl.available()) {
    own = openssl.generate();
    const Bytes share = Openssl::share(own.get());
    const Encapsulations ours = context.encaps(scheme, 1, KeyMode::kPerItem, share);
    Openssl::decaps(own.get(), ours.ct.data(), ours.ct.size(), ss);
    require(ss == ours.ss, "what polykem sent to OpenSSL");
    peer = openssl.from_share(one_pk.data(), one_pk.size());
    Openssl::encaps(peer.get(), ct, ss);
    require(context.decaps(scheme, 1, KeyMode::kPerItem, one_sk, ct).ss == ss, "what OpenSSL sent to polykem");
  }

  const std::string used = context.backend(scheme);
  std::vector<Row> rows = {{name, "keygen", used}, {name, "encaps", used}, {name, "decaps", used}};
  std::vector<double> rates[3][3];
  for (int round = 0; round < kRounds; ++round) {
    rates[0][0].push_back(rate(kBatch, [&] { context.keygen(scheme, kBatch); }));
    rates[0][1].push_back(rate(1, [&] { context.keygen(scheme, 1); }));
    rates[1][0].push_back(rate(kBatch, [&] { context.encaps(scheme, kBatch, KeyMode::kPerItem, keys.pk); }));
    rates[1][1].push_back(rate(1, [&] { context.encaps(scheme, 1, KeyMode::kPerItem, one_pk); }));
    rates[2][0].push_back(rate(kBatch, [&] { context.decaps(scheme, kBatch, KeyMode::kPerItem, keys.sk, made.ct); }));
    rates[2][1].push_back(rate(1, [&] { context.decaps(scheme, 1, KeyMode::kPerItem, one_sk, one_ct); }));
    if (!own) continue;
    rates[0][2].push_back(rate(1, [&] { openssl.generate(); }));
    rates[1][2].push_back(
        rate(1, [&] { Openssl::encaps(openssl.from_share(one_pk.data(), one_pk.size()).get(), ct, ss); }));
    rates[2][2].push_back(rate(1, [&] { Openssl::decaps(own.get(), ct.data(), ct.size(), ss); }));
  }
  for (std::size_t op = 0; op < rows.size(); ++op) {
    rows[op].batch = median(rates[op][0]);
    rows[op].single = median(rates[op][1]);
    if (own) rows[op].openssl = median(rates[op][2]);
  }
  return rows;
}

void write(const std::vector<Row>& rows, const std::string& options, const char* path) {
  std::FILE* file = std::fopen(path, "w");
  require(file != nullptr, "the file cannot be written");
  const char* commit = std::getenv("POLYKEM_COMMIT");
  std::fprintf(file, "{\n \"commit\": \"%s\",\n \"command\": \"polykem_bench_hybrids %sFILE.json\",\n",
               commit ? commit : "", options.c_str());
  std::fprintf(file, " \"openssl\": \"%s\",\n \"rounds\": %d,\n \"batch\": %zu,\n \"threads\": 1,\n \"records\": [\n",
               OpenSSL_version(OPENSSL_VERSION_STRING), kRounds, kBatch);
  for (const Row& row : rows) {
    std::fprintf(file,
                 "  {\"set\": \"%s\", \"op\": \"%s\", \"backend\": \"%s\", \"batch_ops_per_s\": %.0f, "
                 "\"single_ops_per_s\": %.0f, \"openssl_ops_per_s\": %.0f}%s\n",
                 row.set, row.op, row.backend.c_str(), row.batch, row.single, row.openssl,
                 &row == &rows.back() ? "" : ",");
  }
  std::fprintf(file, " ]\n}\n");
  std::fclose(file);
}

void print(const Row& row) {
  std::printf("%-20s %-7s %-8s %12.0f %12.0f %12.0f", row.set, row.op, row.backend.c_str(), row.batch, row.single,
              row.openssl);
  if (row.openssl > 0) std::printf(" %7.1fx %7.2fx", row.batch / row.openssl, row.single / row.openssl);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> backends;
  std::string options;
  const char* path = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--backend" && i + 1 < argc) {
      backends.emplace_back(argv[++i]);
      options += "--backend " + backends.back() + " ";
    } else {
      require(argv[i][0] != '-' && path == nullptr, "usage: polykem_bench_hybrids [--backend NAME]... [FILE.json]");
      path = argv[i];
    }
  }
  if (backends.empty()) backends.emplace_back();

  std::printf("%-20s %-7s %-8s %12s %12s %12s %8s %8s\n", "set", "op", "backend", "batch/s", "single/s", "OpenSSL/s",
              "batch", "single");
  std::vector<Row> rows;
  for (const std::string& backend : backends) {
    for (const char* set : kSets) {
      for (const Row& row : measure(set, backend)) {
        print(row);
        rows.push_back(row);
      }
    }
  }
  if (path) write(rows, options, path);
} catch (const Error& error) {
  fail(error.what());
}
