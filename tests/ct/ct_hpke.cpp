// SPDX-License-Identifier: Apache-2.0
// ct_check for HPKE: derives key pairs, seals and opens messages, and exports secrets with every secret poisoned: keys,
// coins, pre-shared keys, plaintexts. Only values that an attacker sees are declassified: public keys, encapsulations
// and ciphertexts, and plaintexts and exported secrets after the operation, to compare them.
//
//   ct_hpke KEM/KDF/AEAD [--leak branch|address|mask|lane|division|divisor] [--trace ITEMS] [--basic]
//
//   --leak    leaks an exported secret, which must be reported
//   --basic   contexts with a pre-shared key, one message that opens, one that is rejected
//
// Whether a message opens is public, and both runs of a trace must agree on it. So where messages open, both runs have
// the same keys, other coins, and ciphertexts of their own; otherwise they have other keys and the first run's
// ciphertexts.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "hpke/hpke.hpp"
#include "poisoned.hpp"

namespace {

using namespace polykem::ct_test;
using namespace polykem::hpke;

constexpr size_t kItems = 2;           ///< under memcheck
constexpr size_t kMessageBytes = 100;  ///< several blocks of a cipher and a part of one
constexpr size_t kExportedBytes = 48;

template <class Info>
auto find(const std::vector<Info>& all, const std::string& name) {
  for (const Info& info : all)
    if (info.name == name) return info.id;
  fail("HPKE has no " + name);
}

Kem find_kem(const std::string& name) {
  for (const KemInfo& kem : kems())
    if (kem.alias == name) return kem.id;
  return find(kems(), name);
}

Suite find_suite(const std::string& names) {
  const size_t first = names.find('/'), second = names.find('/', first + 1);
  if (second == std::string::npos) fail("usage: KEM/KDF/AEAD ...");
  return {find_kem(names.substr(0, first)), find(kdfs(), names.substr(first + 1, second - first - 1)),
          find(aeads(), names.substr(second + 1))};
}

/// One way to use HPKE.
struct Mode {
  bool opens;   ///< otherwise every tag is changed
  bool psk;     ///< with a pre-shared key
  bool shared;  ///< all items have one key pair, which is prepared once
};

struct Check {
  polykem_context* context;
  const Suite& suite;
  size_t count;
  bool traced, basic;

  bool has_cipher() const { return suite.aead().cipher != nullptr; }

  void run(Mode mode, Leak leak) const;

 private:
  struct Keys {
    Bytes pk, sk;
  };
  Keys derive(Mode mode) const;
  void send(Mode mode, const Bytes& ct) const;
  void single_messages(Mode mode, const Keys& keys, const Psk& psk) const;
  void contexts(Mode mode, const Keys& keys, const Psk& psk, Leak leak) const;
};

void expect(bool condition, const char* what) {
  if (!condition) fail(what);
}

/// What both runs of a trace have in common where `both` is set; otherwise other bytes in each.
Bytes secret_in_run(size_t bytes, uint32_t seed, bool both) {
  const uint32_t run = std::exchange(current_run, both ? 0 : current_run);
  const Bytes out = secret_coins(bytes, seed);
  current_run = run;
  return out;
}

Messages each(const Bytes& all, size_t width) {
  return {all.data(), width};
}

Check::Keys Check::derive(Mode mode) const {
  const size_t keys = mode.shared ? 1 : count, ikm_bytes = suite.secret_key_bytes();
  const Bytes ikm = secret_in_run(keys * ikm_bytes, 1, mode.opens);
  Keys out{Bytes(keys * suite.public_key_bytes()), Bytes(keys * suite.secret_key_bytes())};
  expect(derive_key_pairs(context, suite, keys, ikm.data(), ikm_bytes, out.pk.data(), out.sk.data()) == 0, "keys");
  declassify(out.pk);
  return out;
}

/// Publishes what a sender made. In a trace in which messages open, each run keeps its own.
void Check::send(Mode mode, const Bytes& ct) const {
  if (!traced || !mode.opens) declassify(ct);
}

/// Changes the tag of every ciphertext.
void damage(Bytes& ciphertexts, size_t width) {
  for (size_t end = width; end <= ciphertexts.size(); end += width)
    ciphertexts[end - 1] ^= 1;
}

/// Checks the statuses and the plaintexts of messages that open or are rejected.
void expect_opened(bool opens, const std::vector<ItemStatus>& status, const Bytes& opened, const Bytes& plaintexts) {
  const auto wanted = opens ? ItemStatus::kOk : ItemStatus::kOpen;
  expect(std::ranges::all_of(status, [&](ItemStatus is) { return is == wanted; }), opens ? "rejected" : "not rejected");
  declassify(opened);
  declassify(plaintexts);
  expect(opened == (opens ? plaintexts : Bytes(plaintexts.size())), "other plaintexts");
}

void Check::single_messages(Mode mode, const Keys& keys, const Psk& psk) const {
  constexpr size_t kWidth = kMessageBytes + kTagBytes;
  const Bytes coins = secret_coins(count * suite.coin_bytes(), 2), plaintexts = secret_coins(count * kMessageBytes, 3);
  const Bytes info(9, 0x69), aad(count * 13, 0x61);
  Bytes enc(count * suite.enc_bytes()), ciphertexts(count * kWidth), opened(plaintexts.size());
  std::vector<ItemStatus> status(count);
  SealRequest sealing;
  sealing.count = count;
  sealing.pk = {keys.pk.data(), mode.shared};
  sealing.info = for_all(info);
  sealing.psk = psk;
  sealing.coins = coins.data();
  sealing.enc = enc.data();
  sealing.aad = each(aad, 13);
  sealing.plaintexts = each(plaintexts, kMessageBytes);
  sealing.ciphertexts.data = ciphertexts.data();
  expect(seal(context, suite, sealing) == 0, "seal");
  send(mode, enc);
  send(mode, ciphertexts);
  if (!mode.opens) damage(ciphertexts, kWidth);

  OpenRequest opening;
  opening.count = count;
  opening.sk = {keys.sk.data(), mode.shared};
  opening.info = for_all(info);
  opening.psk = psk;
  opening.enc = enc.data();
  opening.aad = each(aad, 13);
  opening.ciphertexts = each(ciphertexts, kWidth);
  opening.plaintexts.data = opened.data();
  opening.status = status.data();
  open(context, suite, opening);
  expect_opened(mode.opens, status, opened, plaintexts);
}

/// Two messages of a context, of which the second one is rejected, and exported secrets.
void Check::contexts(Mode mode, const Keys& keys, const Psk& psk, Leak leak) const {
  constexpr size_t kWidth = kMessageBytes + kTagBytes;
  const Bytes coins = secret_coins(count * suite.coin_bytes(), 4);
  const Bytes info(count * 9, 0x69), exporter_context(7, 0x65);  // a key schedule of its own for each item
  Bytes enc(count * suite.enc_bytes());
  SenderRequest sending;
  sending.count = count;
  sending.pk = {keys.pk.data(), mode.shared};
  sending.info = each(info, 9);
  sending.psk = psk;
  sending.coins = coins.data();
  sending.enc = enc.data();
  Sender sender(context, suite, sending);
  send(mode, enc);
  RecipientRequest receiving;
  receiving.count = count;
  receiving.sk = {keys.sk.data(), mode.shared};
  receiving.info = each(info, 9);
  receiving.psk = psk;
  receiving.enc = enc.data();
  Recipient recipient(context, suite, receiving);
  expect(sender.failed() == 0 && recipient.failed() == 0, "contexts");

  for (uint32_t message = 0; has_cipher() && message < 2; ++message) {
    const bool opens = mode.opens && message == 0;
    const Bytes plaintexts = secret_coins(count * kMessageBytes, 5 + message);
    Bytes ciphertexts(count * kWidth), opened(plaintexts.size());
    std::vector<ItemStatus> status(count);
    ContextSealRequest sealing;
    sealing.count = count;
    sealing.plaintexts = each(plaintexts, kMessageBytes);
    sealing.ciphertexts.data = ciphertexts.data();
    expect(sender.seal(sealing) == 0, "a context's seal");
    send(mode, ciphertexts);
    if (!opens) damage(ciphertexts, kWidth);
    const std::vector<uint64_t> numbers(count, message);
    ContextOpenRequest opening;
    opening.count = count;
    opening.ciphertexts = each(ciphertexts, kWidth);
    opening.numbers = opens ? nullptr : numbers.data();
    opening.plaintexts.data = opened.data();
    opening.status = status.data();
    recipient.open(opening);
    expect_opened(opens, status, opened, plaintexts);
  }

  Bytes sent(count * kExportedBytes), received(sent.size());
  ExportRequest exporting;
  exporting.count = count;
  exporting.contexts = for_all(exporter_context);
  exporting.bytes = kExportedBytes;
  exporting.out = sent.data();
  expect(sender.export_secrets(exporting) == 0, "a sender's export");
  exporting.out = received.data();
  expect(recipient.export_secrets(exporting) == 0, "a recipient's export");
  plant(leak, received);
  declassify(sent);
  declassify(received);
  expect(sent == received, "other secrets exported");
}

void Check::run(Mode mode, Leak leak) const {
  const Keys keys = derive(mode);
  const Bytes secret = secret_coins(mode.psk ? 2 * kMinPskBytes : 0, 7), id(mode.psk ? 4 : 0, 0x70);
  const Psk psk{for_all(secret), for_all(id)};
  if (has_cipher() && !basic) single_messages(mode, keys, psk);
  contexts(mode, keys, psk, leak);
}

void run_all(const Check& check, Leak leak) try {
  check.run({.opens = true, .psk = true, .shared = false}, leak);
  if (check.basic || leak != Leak::kNone) return;
  check.run({.opens = false, .psk = true, .shared = true}, Leak::kNone);
  check.run({.opens = true, .psk = false, .shared = true}, Leak::kNone);
  check.run({.opens = false, .psk = false, .shared = false}, Leak::kNone);
} catch (const std::exception& error) {
  fail(error.what());
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  const Suite suite = find_suite(arguments.set);
  const polykem_scheme* scheme = nullptr;
  require(polykem_scheme_find("mlkem512", &scheme), "scheme");  // for its backend, which all KEMs of a suite have
  polykem_context* const context = open_context(scheme);
  const std::string what = std::string(arguments.set) + " on " + polykem_context_backend(context, scheme);
  const bool traced = arguments.items > 0;
  const Check check{context, suite, traced ? arguments.items : kItems, traced, arguments.basic};
  if (traced) return trace(what, [&] { run_all(check, arguments.leak); });
  run_all(check, arguments.leak);
  polykem_context_free(context);
  std::printf("%s: done\n", what.c_str());
  return 0;
}
