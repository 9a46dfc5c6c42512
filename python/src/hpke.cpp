// SPDX-License-Identifier: Apache-2.0
// hpke/ as Python sees it: a suite, and calls that return the C API's status as a number.
#include <nanobind/stl/string.h>
#include <hpke/hpke.hpp>

#include <algorithm>

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

/// Messages as Python gives them: a buffer or None, its bytes, a width, an array of offsets or None, and whether one
/// message is for all.
using MessageTuple = nb::typed<nb::tuple, nb::any, int, int, nb::any, bool>;

/// Those of `count` items, held.
struct MessageArray {
  MessageArray(const MessageTuple& given, std::size_t count, const char* name, bool writable = false)
      : held(given[0], name, nb::cast<std::size_t>(given[1]), writable),
        width(nb::cast<std::size_t>(given[2])),
        offsets(given[3], "offsets", (count + 1) * sizeof(std::uint64_t), false),
        shared(nb::cast<bool>(given[4])) {
    const std::uint64_t* begins = at();
    const std::size_t records = shared ? 1 : count;
    if (begins ? begins[count] > held.size() : width > 0 && held.size() / width < records)
      refuse(std::string(name) + " ends before its last item");
  }
  const std::uint64_t* at() const { return reinterpret_cast<const std::uint64_t*>(offsets.data()); }
  /// From item `first` on.
  hpke::Messages from(std::size_t first) const {
    if (at()) return {held.data(), width, at() + first, shared};
    return {held.data() + (shared ? 0 : first * width), width, nullptr, shared};
  }
  hpke::MessagesOut out_from(std::size_t first) const {
    if (at()) return {held.data(), at() + first};
    return {held.data() + first * width, nullptr};
  }

  Bytes held;
  std::size_t width;
  Bytes offsets;
  bool shared;
};

/// Keys of `bytes` each, or one for all.
struct Keys {
  Keys(nb::handle object, const char* name, bool one, std::size_t count, std::size_t bytes_each)
      : held(object, name, (one ? 1 : count) * bytes_each, false), bytes(bytes_each), shared(one) {}
  hpke::Records from(std::size_t first) const { return {held.data() + (shared ? 0 : first * bytes), shared}; }

  Bytes held;
  std::size_t bytes;
  bool shared;
};

/// What key schedules bind to: info, pre-shared keys, their identities.
struct Bindings {
  Bindings(const MessageTuple& info_given, const MessageTuple& psk_given, const MessageTuple& psk_id_given,
           std::size_t count)
      : info(info_given, count, "info"), psk(psk_given, count, "psk"), psk_id(psk_id_given, count, "psk_id") {}
  hpke::Psk psk_from(std::size_t first) const { return {psk.from(first), psk_id.from(first)}; }
  MessageArray info, psk, psk_id;
};

ItemStatus* statuses(const Bytes& bytes) {
  return reinterpret_cast<ItemStatus*>(bytes.data());
}

int seal(const Context& context, const Suite& suite, std::size_t count, nb::handle pk, bool pk_shared,
         MessageTuple info, MessageTuple psk, MessageTuple psk_id, MessageTuple aad, MessageTuple plaintexts,
         nb::handle coins, nb::handle enc, MessageTuple ciphertexts, nb::handle status) {
  const Keys keys(pk, "pk", pk_shared, count, suite.public_key_bytes());
  const Bindings bindings(info, psk, psk_id, count);
  const Bytes random(coins, "coins", count * suite.coin_bytes(), false);
  const Bytes enc_out(enc, "enc", count * suite.enc_bytes(), true);
  const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
  const MessageArray data(aad, count, "aad"), in(plaintexts, count, "plaintexts");
  const MessageArray out(ciphertexts, count, "ciphertexts", true);
  const ContextHandle handle = context.handle();
  const auto work = [&](std::size_t first, std::size_t items) {
    hpke::SealRequest part;
    part.count = items;
    part.pk = keys.from(first);
    part.info = bindings.info.from(first);
    part.psk = bindings.psk_from(first);
    part.aad = data.from(first);
    part.plaintexts = in.from(first);
    if (random.data()) part.coins = random.data() + first * suite.coin_bytes();
    part.enc = enc_out.data() + first * suite.enc_bytes();
    part.ciphertexts = out.out_from(first);
    part.status = statuses(status_out) + first;
    hpke::seal(handle.get(), suite, part);
  };
  return guarded(count, work, {});
}

int open(const Context& context, const Suite& suite, std::size_t count, nb::handle sk, bool sk_shared,
         MessageTuple info, MessageTuple psk, MessageTuple psk_id, MessageTuple aad, nb::handle enc,
         MessageTuple ciphertexts, MessageTuple plaintexts, nb::handle status) {
  const Keys keys(sk, "sk", sk_shared, count, suite.secret_key_bytes());
  const Bindings bindings(info, psk, psk_id, count);
  const Bytes enc_in(enc, "enc", count * suite.enc_bytes(), false);
  const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
  const MessageArray data(aad, count, "aad"), in(ciphertexts, count, "ciphertexts");
  const MessageArray out(plaintexts, count, "plaintexts", true);
  const ContextHandle handle = context.handle();
  const auto work = [&](std::size_t first, std::size_t items) {
    hpke::OpenRequest part;
    part.count = items;
    part.sk = keys.from(first);
    part.info = bindings.info.from(first);
    part.psk = bindings.psk_from(first);
    part.aad = data.from(first);
    part.enc = enc_in.data() + first * suite.enc_bytes();
    part.ciphertexts = in.from(first);
    part.plaintexts = out.out_from(first);
    part.status = statuses(status_out) + first;
    hpke::open(handle.get(), suite, part);
  };
  return guarded(count, work, out.held);
}

/// Contexts of one side, made and used in pieces: a signal handler that raises can end a long call.
template <class Side>
class ContextPieces {
 public:
  ContextPieces() = default;
  ContextPieces(const ContextPieces&) = delete;
  ContextPieces& operator=(const ContextPieces&) = delete;

  /// `make(first, items)` makes contexts.
  template <class Make>
  int set_up(std::size_t count, const Make& make, const Bytes& status) {
    const auto work = [&](std::size_t first, std::size_t items) {
      pieces_.push_back({first, make(first, items)});
      for (std::size_t i = 0; i < items; ++i)
        statuses(status)[first + i] = pieces_.back().side.status(i);
    };
    return guarded(count, work, {});
  }

  /// `call(side, first in side, first of all, items)` for all items.
  template <class Call>
  int run(const Call& call, const Bytes& secrets) {
    const auto work = [&](std::size_t first, std::size_t items) {
      for (Piece& piece : pieces_) {
        const std::size_t begin = std::max(first, piece.first);
        const std::size_t end = std::min(first + items, piece.first + piece.side.count());
        if (begin < end) call(piece.side, begin - piece.first, begin, end - begin);
      }
    };
    return guarded(count(), work, secrets);
  }

  std::size_t count() const { return pieces_.empty() ? 0 : pieces_.back().first + pieces_.back().side.count(); }

  void skip_to(std::uint64_t number) {
    for (Piece& piece : pieces_)
      piece.side.skip_to(number);
  }

  /// Writes the number of each item's next message.
  void numbers(nb::handle out) const {
    const Bytes all(out, "numbers", count() * sizeof(std::uint64_t), true);
    for (const Piece& piece : pieces_) {
      for (std::size_t i = 0; i < piece.side.count(); ++i)
        reinterpret_cast<std::uint64_t*>(all.data())[piece.first + i] = piece.side.number(i);
    }
  }

  int export_secrets(MessageTuple contexts, std::size_t bytes, nb::handle out, nb::handle status) {
    const MessageArray exporter_contexts(contexts, count(), "exporter_context");
    const Bytes secrets(out, "secrets", count() * bytes, true);
    const Bytes status_out(status, "status", count() * sizeof(ItemStatus), true);
    const auto call = [&](Side& side, std::size_t begin, std::size_t first, std::size_t items) {
      hpke::ExportRequest part;
      part.first = begin;
      part.count = items;
      part.contexts = exporter_contexts.from(first);
      part.bytes = bytes;
      part.out = secrets.data() + first * bytes;
      part.status = statuses(status_out) + first;
      side.export_secrets(part);
    };
    return run(call, secrets);
  }

 private:
  struct Piece {
    std::size_t first;
    Side side;
  };
  std::vector<Piece> pieces_;
};

class Sender : public ContextPieces<hpke::Sender> {
 public:
  Sender(const Context& context, const Suite& suite, std::size_t count, nb::handle pk, bool pk_shared,
         MessageTuple info, MessageTuple psk, MessageTuple psk_id, nb::handle coins, nb::handle enc,
         nb::handle status) {
    const Keys keys(pk, "pk", pk_shared, count, suite.public_key_bytes());
    const Bindings bindings(info, psk, psk_id, count);
    const Bytes random(coins, "coins", count * suite.coin_bytes(), false);
    const Bytes enc_out(enc, "enc", count * suite.enc_bytes(), true);
    const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
    const ContextHandle handle = context.handle();
    const auto make = [&](std::size_t first, std::size_t items) {
      hpke::SenderRequest part;
      part.count = items;
      part.pk = keys.from(first);
      part.info = bindings.info.from(first);
      part.psk = bindings.psk_from(first);
      if (random.data()) part.coins = random.data() + first * suite.coin_bytes();
      part.enc = enc_out.data() + first * suite.enc_bytes();
      return hpke::Sender(handle.get(), suite, part);
    };
    failure = set_up(count, make, status_out);
  }

  int seal(MessageTuple aad, MessageTuple plaintexts, MessageTuple ciphertexts, nb::handle status) {
    const MessageArray data(aad, count(), "aad"), in(plaintexts, count(), "plaintexts");
    const MessageArray out(ciphertexts, count(), "ciphertexts", true);
    const Bytes status_out(status, "status", count() * sizeof(ItemStatus), true);
    const auto call = [&](hpke::Sender& side, std::size_t begin, std::size_t first, std::size_t items) {
      hpke::ContextSealRequest part;
      part.first = begin;
      part.count = items;
      part.aad = data.from(first);
      part.plaintexts = in.from(first);
      part.ciphertexts = out.out_from(first);
      part.status = statuses(status_out) + first;
      side.seal(part);
    };
    return run(call, {});
  }

  int failure = POLYKEM_OK;  ///< of the setup
};

class Recipient : public ContextPieces<hpke::Recipient> {
 public:
  Recipient(const Context& context, const Suite& suite, std::size_t count, nb::handle sk, bool sk_shared,
            MessageTuple info, MessageTuple psk, MessageTuple psk_id, nb::handle enc, nb::handle status) {
    const Keys keys(sk, "sk", sk_shared, count, suite.secret_key_bytes());
    const Bindings bindings(info, psk, psk_id, count);
    const Bytes enc_in(enc, "enc", count * suite.enc_bytes(), false);
    const Bytes status_out(status, "status", count * sizeof(ItemStatus), true);
    const ContextHandle handle = context.handle();
    const auto make = [&](std::size_t first, std::size_t items) {
      hpke::RecipientRequest part;
      part.count = items;
      part.sk = keys.from(first);
      part.info = bindings.info.from(first);
      part.psk = bindings.psk_from(first);
      part.enc = enc_in.data() + first * suite.enc_bytes();
      return hpke::Recipient(handle.get(), suite, part);
    };
    failure = set_up(count, make, status_out);
  }

  int open(MessageTuple aad, MessageTuple ciphertexts, nb::handle numbers, MessageTuple plaintexts, nb::handle status) {
    const MessageArray data(aad, count(), "aad"), in(ciphertexts, count(), "ciphertexts");
    const MessageArray out(plaintexts, count(), "plaintexts", true);
    const Bytes wanted(numbers, "numbers", count() * sizeof(std::uint64_t), false);
    const Bytes status_out(status, "status", count() * sizeof(ItemStatus), true);
    const auto call = [&](hpke::Recipient& side, std::size_t begin, std::size_t first, std::size_t items) {
      hpke::ContextOpenRequest part;
      part.first = begin;
      part.count = items;
      part.aad = data.from(first);
      part.ciphertexts = in.from(first);
      if (wanted.data()) part.numbers = reinterpret_cast<const std::uint64_t*>(wanted.data()) + first;
      part.plaintexts = out.out_from(first);
      part.status = statuses(status_out) + first;
      side.open(part);
    };
    return run(call, out.held);
  }

  int failure = POLYKEM_OK;  ///< of the setup
};

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

using Names = nb::typed<nb::list, nb::typed<nb::tuple, int, nb::str>>;

/// Number and name of each algorithm.
template <class List>
Names names(const List& list) {
  Names out;
  for (const auto& info : list)
    out.append(nb::make_tuple(static_cast<int>(info.id), std::string(info.name)));
  return out;
}

/// The same, and the KEMs' other names behind.
Names kem_names() {
  Names out = names(hpke::kems());
  for (const hpke::KemInfo& info : hpke::kems()) {
    if (!info.alias.empty()) out.append(nb::make_tuple(static_cast<int>(info.id), std::string(info.alias)));
  }
  return out;
}

}  // namespace

void bind_hpke(nb::module_& m) {
  m.def("hpke_kems", &kem_names);
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
      .def_prop_ro("coin_bytes", &Suite::coin_bytes)
      .def_prop_ro("max_export_bytes", &Suite::max_export_bytes);
  m.attr("HPKE_TAG_BYTES") = hpke::kTagBytes;
  m.attr("HPKE_MIN_PSK_BYTES") = hpke::kMinPskBytes;
  m.def("hpke_generate", &generate, "context"_a, "suite"_a, "count"_a, "pk"_a, "sk"_a);
  m.def("hpke_derive", &derive, "context"_a, "suite"_a, "count"_a, "ikm"_a, "ikm_bytes"_a, "pk"_a, "sk"_a, "status"_a);
  m.def("hpke_public_keys", &public_keys, "context"_a, "suite"_a, "count"_a, "sk"_a, "pk"_a, "status"_a);
  m.def("hpke_seal", &seal, "context"_a, "suite"_a, "count"_a, "pk"_a, "pk_shared"_a, "info"_a, "psk"_a, "psk_id"_a,
        "aad"_a, "plaintexts"_a, "coins"_a.none(), "enc"_a, "ciphertexts"_a, "status"_a);
  m.def("hpke_open", &open, "context"_a, "suite"_a, "count"_a, "sk"_a, "sk_shared"_a, "info"_a, "psk"_a, "psk_id"_a,
        "aad"_a, "enc"_a, "ciphertexts"_a, "plaintexts"_a, "status"_a);
  nb::class_<Sender>(m, "HpkeSender")
      .def(nb::init<const Context&, const Suite&, std::size_t, nb::handle, bool, MessageTuple, MessageTuple,
                    MessageTuple, nb::handle, nb::handle, nb::handle>(),
           "context"_a, "suite"_a, "count"_a, "pk"_a, "pk_shared"_a, "info"_a, "psk"_a, "psk_id"_a, "coins"_a.none(),
           "enc"_a, "status"_a)
      .def_ro("failure", &Sender::failure)
      .def("seal", &Sender::seal, "aad"_a, "plaintexts"_a, "ciphertexts"_a, "status"_a)
      .def("export_secrets", &Sender::export_secrets, "contexts"_a, "bytes"_a, "out"_a, "status"_a)
      .def("skip_to", &Sender::skip_to, "number"_a)
      .def("numbers", &Sender::numbers, "out"_a);
  nb::class_<Recipient>(m, "HpkeRecipient")
      .def(nb::init<const Context&, const Suite&, std::size_t, nb::handle, bool, MessageTuple, MessageTuple,
                    MessageTuple, nb::handle, nb::handle>(),
           "context"_a, "suite"_a, "count"_a, "sk"_a, "sk_shared"_a, "info"_a, "psk"_a, "psk_id"_a, "enc"_a, "status"_a)
      .def_ro("failure", &Recipient::failure)
      .def("open", &Recipient::open, "aad"_a, "ciphertexts"_a, "numbers"_a.none(), "plaintexts"_a, "status"_a)
      .def("export_secrets", &Recipient::export_secrets, "contexts"_a, "bytes"_a, "out"_a, "status"_a)
      .def("skip_to", &Recipient::skip_to, "number"_a)
      .def("numbers", &Recipient::numbers, "out"_a);
}

}  // namespace polykem::python
