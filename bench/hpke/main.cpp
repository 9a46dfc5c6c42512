// SPDX-License-Identifier: Apache-2.0
// Where the time of HPKE's seal and open goes, on one thread: the lattice, the curve, the key schedule, the cipher, and
// what they cost at least: the lattice in the same batch by itself, and the key schedule's blocks at the hash's speed
// over long messages.
//
//   polykem_bench_hpke [FILE.json]
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "hpke/hpke.hpp"
#include "hpke/hybrid.hpp"
#include "hpke/key_schedule.hpp"

namespace {

using namespace polykem;
using namespace polykem::hpke;

constexpr std::size_t kMessageBytes = 32;

struct Row {
  std::string kem, kdf, aead, op, keys;
  std::size_t count;
  double total, lattice, curve, schedule, cipher, floor;  ///< microseconds an item
};

/// Microseconds an item: the best of some rounds.
double microseconds(std::size_t items, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(300);
  double best = 1e12;
  for (int round = 0; round < 3 || Clock::now() < end; ++round) {
    const auto start = Clock::now();
    call();
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    best = std::min(best, time.count() / static_cast<double>(items));
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
        schedule_(suite, {}),
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
    seal_all(shared);  // open needs it, and so does the lattice
    row.total = microseconds(count_, [&] { sealing ? seal_all(shared) : open_all(shared); });
    if (!sealing && opened_ != plaintexts_) fail("opened something else");
    row.lattice = sealing ? encaps(shared) : decaps(shared);
    if (suite_.hybrid()) row.curve = sealing ? curve_encaps() : curve_decaps(shared);
    symmetric(sealing, row);
    row.floor = row.lattice + row.curve + blocks() * block_time();
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

  polykem_request lattice(polykem_op op) {
    polykem_request request{};
    request.struct_size = sizeof request;
    request.op = op;
    request.scheme = suite_.scheme().handle();
    request.count = count_;
    ct_out_.resize(count_ * suite_.scheme().ciphertext_bytes());
    shared_.resize(count_ * kSharedSecretBytes);
    request.ss_out = shared_.data();
    return request;
  }

  double run(polykem_request& request, const polykem_key_kind kind, const std::uint8_t* keys, bool shared) {
    polykem_keyset* keyset = nullptr;
    if (shared) {
      check(polykem_keyset_import(context_.handle(), request.scheme, kind, 1, keys, &keyset), "key");
      request.keyset = keyset;
      request.key_mode = POLYKEM_KEY_SHARED;
      request.pk = request.sk = nullptr;
      request.secret_form = POLYKEM_SECRET_EXPANDED;
    }
    const double time = microseconds(count_, [&] { check(polykem_run(context_.handle(), &request), "ML-KEM"); });
    polykem_keyset_free(keyset);
    return time;
  }

  double encaps(bool shared) {
    const std::size_t bytes = suite_.scheme().public_key_bytes();
    Bytes keys(count_ * bytes);
    for (std::size_t i = 0; i < count_; ++i)
      std::memcpy(keys.data() + i * bytes, pk_.data() + i * suite_.public_key_bytes(), bytes);
    polykem_request request = lattice(POLYKEM_ENCAPS);
    request.pk = keys.data();
    request.ct_out = ct_out_.data();
    return run(request, POLYKEM_PUBLIC_KEYS, keys.data(), shared);
  }

  double decaps(bool shared) {
    const SecretBytes seeds(count_ * 64, 3);
    polykem_request request = lattice(POLYKEM_DECAPS);
    request.ct = ct_out_.data();  // rejected ones take as long
    request.sk = seeds.data();
    request.secret_form = POLYKEM_SECRET_SEED;
    return run(request, POLYKEM_SECRET_SEEDS, seeds.data(), shared);
  }

  double curve_encaps() {
    Hybrid hybrid(suite_);
    Bytes point(suite_.kem().point_bytes), shared(kSharedSecretBytes), seed(suite_.kem().seed_bytes, 1);
    std::size_t round = 0;
    return microseconds(16, [&] {
      for (int i = 0; i < 16; ++i) {
        seed[0] = static_cast<std::uint8_t>(++round);
        if (hybrid.encaps(seed.data(), pk_.data() + suite_.scheme().public_key_bytes(), point.data(), shared.data()) !=
            Outcome::kDone)
          fail("a point");
      }
    });
  }

  double curve_decaps(bool shared_key) {
    Hybrid hybrid(suite_);
    Bytes lattice(64), scalar(suite_.kem().scalar_bytes), own(suite_.kem().point_bytes), shared(kSharedSecretBytes);
    const std::uint8_t* point = enc_.data() + suite_.scheme().ciphertext_bytes();
    const auto expand = [&](const std::uint8_t* sk) {
      const bool ok = hybrid.expand(sk, lattice.data(), scalar.data()) == Outcome::kDone &&
                      hybrid.public_point(scalar.data(), own.data()) == Outcome::kDone;
      if (!ok) fail("a key");
    };
    expand(sk_.data());
    std::size_t round = 0;
    return microseconds(16, [&] {
      for (int i = 0; i < 16; ++i) {
        const std::uint8_t* sk = sk_.data() + (++round % count_) * suite_.secret_key_bytes();
        if (!shared_key) expand(sk);
        if (hybrid.decaps(scalar.data(), own.data(), point, shared.data()) != Outcome::kDone) fail("a point");
      }
    });
  }

  /// Key schedule and cipher, the latter as what a message takes more.
  void symmetric(bool sealing, Row& row) {
    MessageCipher cipher(schedule_);
    const Bytes secret(kSharedSecretBytes, 9), plaintext(kMessageBytes, 7);
    Bytes sealed(kMessageBytes + kTagBytes), opened(kMessageBytes);
    const auto repeat = [](const std::function<bool()>& call) {
      return microseconds(1000, [&] {
        for (int i = 0; i < 1000; ++i) {
          if (!call()) fail("a message");
        }
      });
    };
    row.schedule = repeat([&] { return cipher.derive(secret.data()); });
    const double both = repeat([&] {
      if (sealing) return cipher.seal(secret.data(), {}, plaintext, sealed.data());
      return cipher.open(secret.data(), {}, sealed, opened.data()) == MessageCipher::Opened::kYes ||
             cipher.seal(secret.data(), {}, plaintext, sealed.data());  // the first time
    });
    row.cipher = both - row.schedule;
  }

  /// Blocks of the hash that a key schedule compresses.
  double blocks() const {
    if (suite_.kdf().block_bytes == 0) {
      const std::size_t rate = suite_.kdf().id == Kdf::kShake128 ? 168 : 136;
      return static_cast<double>(schedule_.derive_message.size() / rate + 1);
    }
    const std::size_t block = suite_.kdf().block_bytes, length_bytes = block / 8;
    std::size_t all = 0;
    for (const Bytes& message : {schedule_.secret_message, schedule_.key_message, schedule_.nonce_message})
      all += 1 + (message.size() + 1 + length_bytes + block - 1) / block + 2;  // the pads, the message, the outer hash
    return static_cast<double>(all);
  }

  double block_time() const {
    const std::size_t rate = suite_.kdf().block_bytes            ? suite_.kdf().block_bytes
                             : suite_.kdf().id == Kdf::kShake128 ? 168
                                                                 : 136;
    const Bytes message(rate * 512);
    Bytes hash(64);
    return microseconds(
        512, [&] { EVP_Digest(message.data(), message.size(), hash.data(), nullptr, schedule_.digest, nullptr); });
  }

  const Suite& suite_;
  const Context context_{1};
  KeySchedule schedule_;
  std::size_t count_;
  Bytes pk_, enc_, ct_, plaintexts_, opened_, ct_out_;
  SecretBytes sk_, shared_;
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
    const bool slow = suite.kem().curve == Curve::kP384;
    Bench bench(suite, slow ? 128 : 4096);
    for (const bool sealing : {true, false}) {
      for (const bool shared : {true, false}) {
        rows.push_back(bench.row(sealing, shared));
        print(rows.back());
      }
    }
  }
  if (argc > 1) write(rows, argv[1]);
}
