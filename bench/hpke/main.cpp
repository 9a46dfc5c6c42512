// SPDX-License-Identifier: Apache-2.0
// Measures the parts of HPKE's seal and open on one thread: ML-KEM, the rest of a hybrid's KEM (its curve), the key
// schedule and the cipher. The floor is the time of the KEM alone in the same batch, and of the key schedule's blocks
// at the hash's speed over long messages.
//
//   polykem_bench_hpke [FILE.json]
#include <time.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "hpke/hpke.hpp"
#include "hpke/message_cipher.hpp"

namespace {

using namespace polykem;
using namespace polykem::hpke;

constexpr std::size_t kMessageBytes = 32;

struct Row {
  std::string kem, kdf, aead, op, keys;
  std::size_t count;
  double total, lattice, curve, schedule, cipher, floor;  ///< microseconds per item
};

/// Returns the CPU time of this process in seconds, which does not count other processes on the core.
double seconds_computed() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Returns the best of several rounds, in microseconds per item.
double microseconds(std::size_t items, const std::function<void()>& call) {
  const double end = seconds_computed() + 0.3;
  double best = 1e12;
  for (int round = 0; round < 3 || seconds_computed() < end; ++round) {
    const double start = seconds_computed();
    call();
    best = std::min(best, (seconds_computed() - start) * 1e6 / static_cast<double>(items));
  }
  return best;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "polykem_bench_hpke: %s\n", what);
  std::exit(1);
}

class Bench {
 public:
  Bench(const Suite& suite, std::size_t count)
      : suite_(suite),
        schedule_(suite, Binding{}),
        count_(count),
        pk_(count * suite.public_key_bytes()),
        enc_(count * suite.enc_bytes()),
        ct_(count * (kMessageBytes + kTagBytes)),
        plaintexts_(count * kMessageBytes, 7),
        opened_(plaintexts_.size()),
        sk_(count * suite.secret_key_bytes()) {
    generate(context_.handle(), suite, count, pk_.data(), sk_.data());
  }

  Row row(bool sealing, bool shared) {
    Row row{std::string(suite_.kem().name),
            std::string(suite_.kdf().name),
            std::string(suite_.aead().name),
            sealing ? "seal" : "open",
            shared ? "shared" : "per-item",
            count_,
            0,
            0,
            0,
            0,
            0,
            0};
    seal_all(shared);  // for open, which needs its output
    row.total = microseconds(count_, [&] { sealing ? seal_all(shared) : open_all(shared); });
    if (!sealing && opened_ != plaintexts_) fail("opened something else");
    const Scheme scheme = Scheme::find(std::string(suite_.kem().name).c_str());
    const double kem = kem_time(scheme, sealing, shared);
    const bool hybrid = scheme.info().secret_seed_bytes == 0;
    row.lattice = hybrid ? kem_time(Scheme::find(lattice_of(suite_.kem().id)), sealing, shared) : kem;
    row.curve = kem - row.lattice;
    symmetric(sealing, row);
    row.floor = kem + blocks() * block_time();
    return row;
  }

 private:
  void seal_all(bool shared) {
    SealRequest request;
    request.count = count_;
    request.pk = {pk_.data(), shared};
    request.plaintexts = {plaintexts_.data(), kMessageBytes};
    request.enc = enc_.data();
    request.ciphertexts = {ct_.data()};
    if (seal(context_.handle(), suite_, request) != 0) fail("an item was not sealed");
  }

  void open_all(bool shared) {
    OpenRequest request;
    request.count = count_;
    request.sk = {sk_.data(), shared};
    request.enc = enc_.data();
    request.ciphertexts = {ct_.data(), kMessageBytes + kTagBytes};
    request.plaintexts = {opened_.data()};
    if (open(context_.handle(), suite_, request) != 0) fail("an item was not opened");
  }

  static const char* lattice_of(Kem hybrid) { return hybrid == Kem::kMlKem1024P384 ? "mlkem1024" : "mlkem768"; }

  /// Measures encapsulation, or decapsulation with secret keys as HPKE stores them, in microseconds per item.
  double kem_time(const Scheme& scheme, bool sealing, bool shared) {
    const KeyPairs keys = context_.keygen(scheme, count_);
    const Encapsulations made = context_.encaps(scheme, count_, KeyMode::kPerItem, keys.pk);
    const bool seeds = scheme.info().secret_seed_bytes != 0;
    const SecretBytes coins(count_ * scheme.info().keygen_coin_bytes,
                            3);  // coins do not match, but rejected ciphertexts take as long
    const std::uint8_t* const secret = seeds ? coins.data() : keys.sk.data();
    Bytes ct(made.ct.size());
    SecretBytes ss(made.ss.size());
    polykem_request request{};
    request.struct_size = sizeof request;
    request.op = sealing ? POLYKEM_ENCAPS : POLYKEM_DECAPS;
    request.scheme = scheme.handle();
    request.count = count_;
    request.pk = sealing ? keys.pk.data() : nullptr;
    request.ct_out = sealing ? ct.data() : nullptr;
    request.sk = sealing ? nullptr : secret;
    request.ct = sealing ? nullptr : made.ct.data();
    request.ss_out = ss.data();
    if (!sealing && seeds) request.secret_form = POLYKEM_SECRET_SEED;
    polykem_keyset* keyset = nullptr;
    if (shared) {
      const polykem_key_kind kind = sealing ? POLYKEM_PUBLIC_KEYS : seeds ? POLYKEM_SECRET_SEEDS : POLYKEM_SECRET_KEYS;
      check(polykem_keyset_import(context_.handle(), scheme.handle(), kind, 1, sealing ? keys.pk.data() : secret,
                                  &keyset),
            "key");
      request.keyset = keyset;
      request.key_mode = POLYKEM_KEY_SHARED;
      request.pk = request.sk = nullptr;
      request.secret_form = POLYKEM_SECRET_EXPANDED;
    }
    const double time = microseconds(count_, [&] { check(polykem_run(context_.handle(), &request), "KEM"); });
    polykem_keyset_free(keyset);
    return time;
  }

  /// Measures key schedule and cipher; the cipher's time is the additional time of a message.
  void symmetric(bool sealing, Row& row) {
    Deriver deriver(suite_);
    MessageCipher cipher(suite_);
    ContextSecrets secrets;
    const Bytes secret(kSharedSecretBytes, 9), plaintext(kMessageBytes, 7);
    Bytes sealed(kMessageBytes + kTagBytes), opened(kMessageBytes);
    const auto repeat = [](const std::function<bool()>& call) {
      return microseconds(1000, [&] {
        for (int i = 0; i < 1000; ++i) {
          if (!call()) fail("a message");
        }
      });
    };
    const auto derive = [&] { return deriver.derive(schedule_, secret.data(), false, secrets); };
    row.schedule = repeat(derive);
    cipher.seal(secrets, 0, {}, plaintext, sealed.data());  // for the recipient
    const double both = repeat([&] {
      if (sealing) return derive() && cipher.seal(secrets, 0, {}, plaintext, sealed.data());
      return derive() && cipher.open(secrets, 0, {}, sealed, opened.data()) == MessageCipher::OpenResult::kOpened;
    });
    row.cipher = both - row.schedule;
  }

  /// Returns the number of blocks that the hash compresses in a key schedule.
  double blocks() const {
    if (suite_.kdf().block_bytes == 0) {
      const std::size_t rate = suite_.kdf().id == Kdf::kShake128 ? 168 : 136;
      return static_cast<double>(schedule_.derive_message.size() / rate + 1);
    }
    const std::size_t block = suite_.kdf().block_bytes, length_bytes = block / 8;
    std::size_t all = 0;
    for (const std::size_t bytes :
         {schedule_.secret_message.size(), schedule_.key_message.size(), schedule_.nonce_message.size()})
      all += 1 + (bytes + 1 + length_bytes + block - 1) / block + 2;  // the pads, the message, the outer hash
    return static_cast<double>(all);
  }

  double block_time() const {
    const std::size_t rate = suite_.kdf().block_bytes            ? suite_.kdf().block_bytes
                             : suite_.kdf().id == Kdf::kShake128 ? 168
                                                                 : 136;
    const Bytes message(rate * 512);
    Bytes hash(64);
    return microseconds(512, [&] {
      EVP_Digest(message.data(), message.size(), hash.data(), nullptr, suite_.algorithms().kdf.get(), nullptr);
    });
  }

  const Suite& suite_;
  const Context context_{1};
  KeySchedule schedule_;
  std::size_t count_;
  Bytes pk_, enc_, ct_, plaintexts_, opened_;
  SecretBytes sk_;
};

void print(const Row& row) {
  const double rest = row.total - row.lattice - row.curve - row.schedule - row.cipher;
  std::printf("%-16s %-12s %-17s %s %-8s %9.0f %8.2f %8.2f %8.2f %8.2f %8.2f %7.2f %8.2f\n", row.kem.c_str(),
              row.kdf.c_str(), row.aead.c_str(), row.op.c_str(), row.keys.c_str(), 1e6 / row.total, row.total,
              row.lattice, row.curve, row.schedule, row.cipher, rest, row.total / row.floor);
  std::fflush(stdout);
}

void write(const std::vector<Row>& rows, const char* path) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) fail("the file cannot be written");
  std::fprintf(file, "{\n \"message_bytes\": %zu,\n \"threads\": 1,\n \"records\": [\n", kMessageBytes);
  for (const Row& row : rows) {
    std::fprintf(
        file,
        "  {\"kem\": \"%s\", \"kdf\": \"%s\", \"aead\": \"%s\", \"op\": \"%s\", \"keys\": \"%s\", \"count\": %zu, "
        "\"ops_per_s\": %.0f, \"us\": %.3f, \"lattice_us\": %.3f, \"curve_us\": %.3f, \"key_schedule_us\": %.3f, "
        "\"cipher_us\": %.3f, \"floor_us\": %.3f}%s\n",
        row.kem.c_str(), row.kdf.c_str(), row.aead.c_str(), row.op.c_str(), row.keys.c_str(), row.count,
        1e6 / row.total, row.total, row.lattice, row.curve, row.schedule, row.cipher, row.floor,
        &row == &rows.back() ? "" : ",");
  }
  std::fprintf(file, " ]\n}\n");
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-16s %-12s %-17s %s %-8s %9s %8s %8s %8s %8s %8s %7s %8s\n", "KEM", "KDF", "AEAD", "op  ", "keys",
              "per s", "us", "lattice", "curve", "schedule", "cipher", "rest", "of floor");
  std::vector<Row> rows;
  const std::vector<Suite> suites = {
      {Kem::kMlKem768, Kdf::kHkdfSha256, Aead::kAes128Gcm},
      {Kem::kMlKem768, Kdf::kHkdfSha256, Aead::kChaCha20Poly1305},
      {Kem::kMlKem768, Kdf::kShake256, Aead::kAes128Gcm},
      {Kem::kMlKem512, Kdf::kHkdfSha256, Aead::kAes128Gcm},
      {Kem::kMlKem1024, Kdf::kHkdfSha384, Aead::kAes256Gcm},
      {Kem::kMlKem768X25519, Kdf::kHkdfSha256, Aead::kAes128Gcm},
      {Kem::kMlKem768P256, Kdf::kHkdfSha256, Aead::kAes128Gcm},
      {Kem::kMlKem1024P384, Kdf::kHkdfSha384, Aead::kAes256Gcm},
  };
  for (const Suite& suite : suites) {
    Bench bench(suite, 4096);
    for (const bool sealing : {true, false}) {
      for (const bool shared : {true, false}) {
        rows.push_back(bench.row(sealing, shared));
        print(rows.back());
      }
    }
  }
  if (argc > 1) write(rows, argv[1]);
}
