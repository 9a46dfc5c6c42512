// SPDX-License-Identifier: Apache-2.0
// Runs a file of tests/embedded/cases.py through the API of embedded.h, on a board or on this machine. The file names a
// set and has a record for each case: a letter, then byte strings, whose lengths follow from the set.
//
//   k coins pk sk          a key pair
//   e coins pk ct ss       an encapsulation
//   d sk ct ss             a decapsulation, accepted or rejected
//   a rounds fields hash   an accumulated hash: 4 bytes, a byte with a bit for each field, 32 bytes
//   p coins pk             a public key that encapsulation refuses
//   s sk ct                a secret key that decapsulation refuses
#include <polykem/embedded.h>

#include <cstring>

#include "board/semihosting.h"
#include "prim/keccak/keccak.hpp"
#include "stack.hpp"

namespace {

using polykem::Shake;

#ifdef POLYKEM_TEST_SET  // one set, so that a program has the size that the set needs
#define POLYKEM_TEST_CONSTANT_OF(SET, OF) POLYKEM_EMBEDDED_##SET##_##OF##_BYTES
#define POLYKEM_TEST_CONSTANT_IN(SET, OF) POLYKEM_TEST_CONSTANT_OF(SET, OF)
#define POLYKEM_TEST_CONSTANT(OF) POLYKEM_TEST_CONSTANT_IN(POLYKEM_TEST_SET_UPPER, OF)
#define POLYKEM_TEST_NAME_OF(SET) polykem_embedded_##SET
#define POLYKEM_TEST_NAME(SET) POLYKEM_TEST_NAME_OF(SET)
const polykem_embedded_set* const kSets[] = {&POLYKEM_TEST_NAME(POLYKEM_TEST_SET)};
#else  // all sets; the largest records are FrodoKEM's
#define POLYKEM_TEST_CONSTANT(OF) POLYKEM_EMBEDDED_FRODOKEM640SHAKE_##OF##_BYTES
const polykem_embedded_set* const kSets[] = {
    &polykem_embedded_ntruhps2048509, &polykem_embedded_ntruhps2048677, &polykem_embedded_ntruhps4096821,
    &polykem_embedded_ntruhrss701,    &polykem_embedded_mlkem512,       &polykem_embedded_mlkem768,
    &polykem_embedded_mlkem1024,      &polykem_embedded_frodokem640aes, &polykem_embedded_frodokem640shake,
};
#endif

/// Records at odd addresses, since they need no alignment.
template <size_t kBytes>
struct alignas(4) Odd {
  uint8_t before, bytes[kBytes];
};
Odd<POLYKEM_TEST_CONSTANT(PUBLIC_KEY)> odd_pk;
Odd<POLYKEM_TEST_CONSTANT(SECRET_KEY)> odd_sk;
Odd<POLYKEM_TEST_CONSTANT(CIPHERTEXT)> odd_ct;
Odd<32> odd_ss;
auto& pk = odd_pk.bytes;
auto& sk = odd_sk.bytes;
auto& ct = odd_ct.bytes;
auto& ss = odd_ss.bytes;

/// More than an operation may use.
alignas(POLYKEM_EMBEDDED_ALIGNMENT) uint8_t memory[POLYKEM_TEST_CONSTANT(WORKSPACE) + POLYKEM_EMBEDDED_ALIGNMENT];

const polykem_embedded_set* set = nullptr;
/// A workspace exactly as large as an operation requires.
polykem_embedded_workspace workspace(size_t bytes) {
  return {memory, bytes};
}

// ---- reports

unsigned cases = 0, failures = 0;

void print_number(size_t number) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  semihosting_write(digits + at);
}

void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  semihosting_write(set == nullptr ? "file" : set->name);
  semihosting_write(", case ");
  print_number(cases);
  semihosting_write(": ");
  semihosting_write(what);
  semihosting_write("\n");
}

// ---- the file

int file = -1;

void read(uint8_t* out, size_t bytes) {
  expect(semihosting_read(file, out, bytes) == bytes, "the file ends within a case");
}

/// Compares with the next bytes of the file.
bool next_is(const uint8_t* got, size_t bytes) {
  uint8_t wanted[64];
  bool same = true;
  for (size_t i = 0; i < bytes; i += sizeof wanted) {
    const size_t now = bytes - i < sizeof wanted ? bytes - i : sizeof wanted;
    read(wanted, now);
    same = same && std::memcmp(wanted, got + i, now) == 0;
  }
  return same;
}

bool is_zero(const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

// ---- operations, and what each of them leaves behind

int coins_of_file(void*, uint8_t* out, size_t bytes) {
  read(out, bytes);
  return 0;
}
int coins_of_stream(void* stream, uint8_t* out, size_t bytes) {
  static_cast<Shake*>(stream)->squeeze({out, bytes});
  return 0;
}
int broken_coins(void*, uint8_t* out, size_t bytes) {
  std::memset(out, 0xa5, bytes);
  return 1;
}

/// Calls an operation and returns its status.
template <class Operation>
polykem_embedded_status call(Operation&& operation) {
  paint_stack();
  const auto status = operation();
  expect(floating_point_is_zero(), "registers are not cleared");
  expect(read_stack(), "the stack is not wiped");
  expect(deepest_stack() <= set->stack_bytes, "the call took more stack than its set says");
  expect(is_zero(memory, sizeof memory), "the workspace is not wiped, or what is beyond it was written");
  return status;
}

polykem_embedded_status keygen(polykem_embedded_random random, void* context) {
  return call(
      [&] { return polykem_embedded_keygen(set, pk, sk, random, context, workspace(set->keygen_workspace_bytes)); });
}
polykem_embedded_status encaps(polykem_embedded_random random, void* context) {
  return call([&] {
    return polykem_embedded_encaps(set, ct, ss, pk, random, context, workspace(set->encaps_workspace_bytes));
  });
}
polykem_embedded_status decaps() {
  return call([&] { return polykem_embedded_decaps(set, ss, ct, sk, workspace(set->decaps_workspace_bytes)); });
}

// ---- cases

void key_pair() {
  expect(keygen(coins_of_file, nullptr) == POLYKEM_EMBEDDED_OK, "keygen");
  expect(next_is(pk, set->public_key_bytes), "pk");
  expect(next_is(sk, set->secret_key_bytes), "sk");
}

/// The coins come before the key in the file.
uint8_t kept_coins[4096];
int kept(void*, uint8_t* out, size_t bytes) {
  std::memcpy(out, kept_coins, bytes);
  return 0;
}

void encapsulation() {
  read(kept_coins, set->encaps_coin_bytes);
  read(pk, set->public_key_bytes);
  expect(encaps(kept, nullptr) == POLYKEM_EMBEDDED_OK, "encaps");
  expect(next_is(ct, set->ciphertext_bytes), "ct");
  expect(next_is(ss, set->shared_secret_bytes), "ss");
}

void decapsulation() {
  read(sk, set->secret_key_bytes);
  read(ct, set->ciphertext_bytes);
  expect(decaps() == POLYKEM_EMBEDDED_OK, "decaps");
  expect(next_is(ss, set->shared_secret_bytes), "ss");
}

/// fields: bit 0 pk, 1 sk, 2 ct, 3 ss, 4 the secret of a random ciphertext. The procedure is that of accumulated.json.
void accumulated() {
  uint8_t head[5], hash[32], first_ss[32];
  read(head, sizeof head);
  const uint32_t rounds = head[0] | head[1] << 8 | head[2] << 16 | uint32_t{head[3]} << 24;
  Shake stream(Shake::Strength::kShake128), sum(Shake::Strength::kShake128);
  const auto add = [&](unsigned field, const uint8_t* bytes, size_t count) {
    if (head[4] >> field & 1) sum.absorb({bytes, count});
  };
  for (uint32_t i = 0; i < rounds; ++i) {
    expect(keygen(coins_of_stream, &stream) == POLYKEM_EMBEDDED_OK, "keygen");
    expect(encaps(coins_of_stream, &stream) == POLYKEM_EMBEDDED_OK, "encaps");
    add(0, pk, set->public_key_bytes);
    add(1, sk, set->secret_key_bytes);
    add(2, ct, set->ciphertext_bytes);
    add(3, ss, set->shared_secret_bytes);
    std::memcpy(first_ss, ss, sizeof ss);
    expect(decaps() == POLYKEM_EMBEDDED_OK, "decaps");
    expect(std::memcmp(first_ss, ss, set->shared_secret_bytes) == 0, "both sides have the same secret");
    stream.squeeze({ct, set->ciphertext_bytes});
    expect(decaps() == POLYKEM_EMBEDDED_OK, "decaps");
    add(4, ss, set->shared_secret_bytes);
  }
  sum.squeeze(hash);
  expect(next_is(hash, sizeof hash), "hash");
}

void refused_public_key() {
  read(kept_coins, set->encaps_coin_bytes);
  read(pk, set->public_key_bytes);
  expect(encaps(kept, nullptr) == POLYKEM_EMBEDDED_ERR_PUBLIC_KEY, "the key is not refused");
  expect(is_zero(ct, set->ciphertext_bytes) && is_zero(ss, set->shared_secret_bytes), "outputs are not zero");
}

void refused_secret_key() {
  read(sk, set->secret_key_bytes);
  read(ct, set->ciphertext_bytes);
  expect(decaps() == POLYKEM_EMBEDDED_ERR_SECRET_KEY, "the key is not refused");
  expect(is_zero(ss, set->shared_secret_bytes), "the secret is not zero");
}

void run_case(uint8_t kind) {
  switch (kind) {
    case 'k':
      return key_pair();
    case 'e':
      return encapsulation();
    case 'd':
      return decapsulation();
    case 'a':
      return accumulated();
    case 'p':
      return refused_public_key();
    case 's':
      return refused_secret_key();
    default:
      expect(false, "a case of an unknown kind");
  }
}

/// Checks what the header says about bad arguments and a source without random bytes.
void errors() {
  pk[0] = sk[0] = ct[0] = ss[0] = 1;
  expect(keygen(broken_coins, nullptr) == POLYKEM_EMBEDDED_ERR_RANDOM, "keygen without random bytes");
  expect(is_zero(pk, set->public_key_bytes) && is_zero(sk, set->secret_key_bytes), "keys are not zero");
  expect(encaps(broken_coins, nullptr) == POLYKEM_EMBEDDED_ERR_RANDOM, "encaps without random bytes");
  expect(is_zero(ct, set->ciphertext_bytes) && is_zero(ss, set->shared_secret_bytes), "outputs are not zero");
  pk[0] = sk[0] = ct[0] = ss[0] = 1;
  const auto refused = [](auto&& operation, size_t bytes) {
    const polykem_embedded_workspace bad[] = {{nullptr, bytes}, {memory, bytes - 1}, {memory + 1, bytes}};
    for (const auto& too_bad : bad)
      expect(operation(too_bad) == POLYKEM_EMBEDDED_ERR_ARGUMENT, "workspace");
  };
  refused([](auto bad) { return polykem_embedded_keygen(set, pk, sk, kept, nullptr, bad); },
          set->keygen_workspace_bytes);
  refused([](auto bad) { return polykem_embedded_encaps(set, ct, ss, pk, kept, nullptr, bad); },
          set->encaps_workspace_bytes);
  refused([](auto bad) { return polykem_embedded_decaps(set, ss, ct, sk, bad); }, set->decaps_workspace_bytes);
  const polykem_embedded_workspace whole = {memory, set->workspace_bytes};
  expect(polykem_embedded_decaps(nullptr, ss, ct, sk, whole) == POLYKEM_EMBEDDED_ERR_ARGUMENT, "no set");
  expect(polykem_embedded_decaps(set, nullptr, ct, sk, whole) == POLYKEM_EMBEDDED_ERR_ARGUMENT, "no secret");
  expect(ss[0] == 1 && pk[0] == 1 && sk[0] == 1 && ct[0] == 1, "a call with a bad argument has written");
}

bool find_set() {
  char name[32];
  read(reinterpret_cast<uint8_t*>(name), sizeof name);
  for (const polykem_embedded_set* candidate : kSets) {
    if (std::strncmp(candidate->name, name, sizeof name) == 0) set = candidate;
  }
  expect(set != nullptr, "a set that this program does not have");
  return set != nullptr;
}

}  // namespace

int main() {
  char path[256];
  semihosting_arguments(path, sizeof path);
  file = semihosting_open(path);
  if (file < 0) {
    semihosting_write("known_answers: there is no file ");
    semihosting_write(path);
    semihosting_write("\n");
    return 2;
  }
  if (!find_set()) return 1;
  errors();
  uint8_t kind = 0;
  while (semihosting_read(file, &kind, 1) == 1) {
    run_case(kind);
    ++cases;
  }
  semihosting_write(set->name);
  semihosting_write(": ");
  print_number(cases);
  semihosting_write(" cases, ");
  print_number(failures);
  semihosting_write(" failures, stack ");
  print_number(deepest_stack());
  semihosting_write("\n");
  return failures == 0 && cases > 0 ? 0 : 1;
}
