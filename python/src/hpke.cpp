// SPDX-License-Identifier: Apache-2.0
// hpke/ as Python sees it: a suite, and calls that return the C API's status as a number.
#include <nanobind/stl/string.h>
#include <hpke/hpke.hpp>

#include "batch.hpp"
#include "hpke_binding.hpp"

namespace polykem::python {
namespace {

using namespace nb::literals;
using hpke::ItemStatus;
using hpke::Suite;

/// Calls work(first, items) without the GIL, in pieces in the main thread; Error becomes its status. Whatever ends it
/// early, the bytes of `secrets` are zero then.
template <class Work>
int guarded(std::size_t count, const Work& work, const Bytes& secrets) {
  int status = POLYKEM_OK;
  Pace pace = kFirstPiece;
  const auto guarded_work = [&](std::size_t first, std::size_t items) {
    try {
      work(first, items);
    } catch (const Error& error) {
      status = error.status();
    } catch (const std::bad_alloc&) {
      status = POLYKEM_ERR_OUT_OF_MEMORY;
    }
    return status == POLYKEM_OK;
  };
  const auto wipe = [&] { polykem_zeroize(secrets.data(), secrets.size()); };
  in_pieces(pace, count, guarded_work, wipe);
  if (status != POLYKEM_OK) wipe();
  return status;
}

/// Messages of `count` items as Python gives them: a buffer of `bytes`, and either a width or an array of offsets.
struct MessageArray {
  MessageArray(nb::handle data, std::size_t bytes, nb::handle begins, std::size_t count, const char* name,
               bool writable)
      : held(data, name, bytes, writable), offsets(begins, "offsets", (count + 1) * sizeof(std::uint64_t), false) {
    const std::uint64_t* last = at();
    if (last && last[count] > bytes) refuse(std::string(name) + " ends before its offsets do");
  }
  const std::uint64_t* at() const { return reinterpret_cast<const std::uint64_t*>(offsets.data()); }

  Bytes held, offsets;
};

ItemStatus* statuses(const Bytes& bytes) {
  return reinterpret_cast<ItemStatus*>(bytes.data());
}

hpke::Messages skipped(hpke::Messages messages, std::size_t items) {
  if (messages.offsets)
    messages.offsets += items;
  else if (!messages.shared)
    messages.data += items * messages.width;
  return messages;
}

/// The same for outputs, which are `width` bytes each unless they have offsets.
hpke::MessagesOut skipped(hpke::MessagesOut messages, std::size_t items, std::size_t width) {
  if (messages.offsets)
    messages.offsets += items;
  else
    messages.data += items * width;
  return messages;
}

int seal(const Context& context, const Suite& suite, std::size_t count, nb::handle pk, bool pk_shared, nb::bytes info,
         nb::bytes aad, nb::handle plaintexts, std::size_t plaintext_bytes, std::size_t width, nb::handle begins,
         bool plaintext_shared, nb::handle coins, nb::handle enc, nb::handle ciphertexts, std::size_t ciphertext_bytes,
         nb::handle ciphertext_begins, nb::handle status) {
  const Bytes keys(pk, "pk", (pk_shared ? 1 : count) * suite.public_key_bytes(), false);
  const Bytes random(coins, "coins", count * suite.coin_bytes(), false);
  const Bytes enc_out(enc, "enc", count * suite.enc_bytes(), true);
  const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
  const MessageArray in(plaintexts, plaintext_bytes, begins, count, "plaintexts", false);
  const MessageArray out(ciphertexts, ciphertext_bytes, ciphertext_begins, count, "ciphertexts", true);
  hpke::SealRequest request;
  request.count = count;
  request.pk = {keys.data(), pk_shared};
  request.info = {reinterpret_cast<const std::uint8_t*>(info.c_str()), info.size()};
  request.aad = {reinterpret_cast<const std::uint8_t*>(aad.c_str()), aad.size()};
  request.plaintexts = {in.held.data(), width, in.at(), plaintext_shared};
  request.coins = random.data();
  request.enc = enc_out.data();
  request.ciphertexts = {out.held.data(), out.at()};
  request.status = statuses(status_out);
  const ContextHandle handle = context.handle();
  const auto work = [&](std::size_t first, std::size_t items) {
    hpke::SealRequest part = request;
    part.count = items;
    if (!pk_shared) part.pk.data += first * suite.public_key_bytes();
    part.plaintexts = skipped(request.plaintexts, first);
    if (part.coins) part.coins += first * suite.coin_bytes();
    part.enc += first * suite.enc_bytes();
    part.ciphertexts = skipped(request.ciphertexts, first, width + hpke::kTagBytes);
    part.status += first;
    hpke::seal(handle.get(), suite, part);
  };
  return guarded(count, work, {});
}

int open(const Context& context, const Suite& suite, std::size_t count, nb::handle sk, bool sk_shared, nb::bytes info,
         nb::bytes aad, nb::handle enc, nb::handle ciphertexts, std::size_t ciphertext_bytes, std::size_t width,
         nb::handle begins, nb::handle plaintexts, std::size_t plaintext_bytes, nb::handle plaintext_begins,
         nb::handle status) {
  const Bytes keys(sk, "sk", (sk_shared ? 1 : count) * suite.secret_key_bytes(), false);
  const Bytes enc_in(enc, "enc", count * suite.enc_bytes(), false);
  const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
  const MessageArray in(ciphertexts, ciphertext_bytes, begins, count, "ciphertexts", false);
  const MessageArray out(plaintexts, plaintext_bytes, plaintext_begins, count, "plaintexts", true);
  hpke::OpenRequest request;
  request.count = count;
  request.sk = {keys.data(), sk_shared};
  request.info = {reinterpret_cast<const std::uint8_t*>(info.c_str()), info.size()};
  request.aad = {reinterpret_cast<const std::uint8_t*>(aad.c_str()), aad.size()};
  request.enc = enc_in.data();
  request.ciphertexts = {in.held.data(), width, in.at()};
  request.plaintexts = {out.held.data(), out.at()};
  request.status = statuses(status_out);
  const ContextHandle handle = context.handle();
  const auto work = [&](std::size_t first, std::size_t items) {
    hpke::OpenRequest part = request;
    part.count = items;
    if (!sk_shared) part.sk.data += first * suite.secret_key_bytes();
    part.enc += first * suite.enc_bytes();
    part.ciphertexts = skipped(request.ciphertexts, first);
    part.plaintexts = skipped(request.plaintexts, first, width < hpke::kTagBytes ? 0 : width - hpke::kTagBytes);
    part.status += first;
    hpke::open(handle.get(), suite, part);
  };
  return guarded(count, work, out.held);
}

int derive(const Context& context, const Suite& suite, std::size_t count, nb::handle ikm, std::size_t ikm_bytes,
           nb::handle pk, nb::handle sk, nb::handle status) {
  const Bytes in(ikm, "ikm", count * ikm_bytes, false);
  const Bytes pk_out(pk, "pk", count * suite.public_key_bytes(), true);
  const Bytes sk_out(sk, "sk", count * suite.secret_key_bytes(), true);
  const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
  const ContextHandle handle = context.handle();
  const auto work = [&](std::size_t first, std::size_t items) {
    hpke::derive_key_pairs(handle.get(), suite, items, in.data() + first * ikm_bytes, ikm_bytes,
                           pk_out.data() + first * suite.public_key_bytes(),
                           sk_out.data() + first * suite.secret_key_bytes(), statuses(status_out) + first);
  };
  return guarded(count, work, sk_out);
}

int generate(const Context& context, const Suite& suite, std::size_t count, nb::handle pk, nb::handle sk) {
  const Bytes pk_out(pk, "pk", count * suite.public_key_bytes(), true);
  const Bytes sk_out(sk, "sk", count * suite.secret_key_bytes(), true);
  const ContextHandle handle = context.handle();
  const auto work = [&](std::size_t first, std::size_t items) {
    hpke::generate(handle.get(), suite, items, pk_out.data() + first * suite.public_key_bytes(),
                   sk_out.data() + first * suite.secret_key_bytes());
  };
  return guarded(count, work, sk_out);
}

int public_keys(const Context& context, const Suite& suite, std::size_t count, nb::handle sk, nb::handle pk,
                nb::handle status) {
  const Bytes sk_in(sk, "sk", count * suite.secret_key_bytes(), false);
  const Bytes pk_out(pk, "pk", count * suite.public_key_bytes(), true);
  const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
  const ContextHandle handle = context.handle();
  const auto work = [&](std::size_t first, std::size_t items) {
    hpke::public_keys(handle.get(), suite, items, sk_in.data() + first * suite.secret_key_bytes(),
                      pk_out.data() + first * suite.public_key_bytes(), statuses(status_out) + first);
  };
  return guarded(count, work, {});
}

/// Number and name of each algorithm.
template <class List>
auto names(const List& list) {
  nb::typed<nb::list, nb::typed<nb::tuple, int, nb::str>> out;
  for (const auto& info : list)
    out.append(nb::make_tuple(static_cast<int>(info.id), std::string(info.name)));
  return out;
}

}  // namespace

void bind_hpke(nb::module_& m) {
  m.def("hpke_kems", [] { return names(hpke::kems()); });
  m.def("hpke_kdfs", [] { return names(hpke::kdfs()); });
  m.def("hpke_aeads", [] { return names(hpke::aeads()); });
  m.def(
      "hpke_status_text", [](int status) { return hpke::item_status_text(static_cast<ItemStatus>(status)); },
      "status"_a);
  nb::class_<Suite>(m, "HpkeSuite")
      .def(
          "__init__",
          [](Suite* self, int kem, int kdf, int aead) {
            try {
              new (self) Suite(static_cast<hpke::Kem>(kem), static_cast<hpke::Kdf>(kdf), static_cast<hpke::Aead>(aead));
            } catch (const Error& error) {
              refuse(error.what());
            }
          },
          "kem"_a, "kdf"_a, "aead"_a)
      .def_prop_ro("public_key_bytes", &Suite::public_key_bytes)
      .def_prop_ro("secret_key_bytes", &Suite::secret_key_bytes)
      .def_prop_ro("enc_bytes", &Suite::enc_bytes)
      .def_prop_ro("coin_bytes", &Suite::coin_bytes);
  m.attr("HPKE_TAG_BYTES") = hpke::kTagBytes;
  m.def("hpke_generate", &generate, "context"_a, "suite"_a, "count"_a, "pk"_a, "sk"_a);
  m.def("hpke_derive", &derive, "context"_a, "suite"_a, "count"_a, "ikm"_a, "ikm_bytes"_a, "pk"_a, "sk"_a, "status"_a);
  m.def("hpke_public_keys", &public_keys, "context"_a, "suite"_a, "count"_a, "sk"_a, "pk"_a, "status"_a);
  m.def("hpke_seal", &seal, "context"_a, "suite"_a, "count"_a, "pk"_a, "pk_shared"_a, "info"_a, "aad"_a, "plaintexts"_a,
        "plaintext_bytes"_a, "width"_a, "begins"_a.none(), "plaintext_shared"_a, "coins"_a.none(), "enc"_a,
        "ciphertexts"_a, "ciphertext_bytes"_a, "ciphertext_begins"_a.none(), "status"_a);
  m.def("hpke_open", &open, "context"_a, "suite"_a, "count"_a, "sk"_a, "sk_shared"_a, "info"_a, "aad"_a, "enc"_a,
        "ciphertexts"_a, "ciphertext_bytes"_a, "width"_a, "begins"_a.none(), "plaintexts"_a, "plaintext_bytes"_a,
        "plaintext_begins"_a.none(), "status"_a);
}

}  // namespace polykem::python
