// SPDX-License-Identifier: Apache-2.0
// The Python binding of hpke/: a suite, and calls that return the C API's status as a number, with an error text.
#include <nanobind/stl/string.h>
#include <hpke/hpke.hpp>

#include <optional>

#include "batch.hpp"
#include "hpke_binding.hpp"
#include "message_array.hpp"

namespace polykem::python {
namespace {

using namespace nb::literals;
using hpke::ItemStatus;
using hpke::Suite;

/// A call's status in the C API, and a sentence if it is not POLYKEM_OK.
using Outcome = nb::typed<nb::tuple, int, nb::str>;

Outcome outcome(int status, const char* sentence) {
  return Outcome(nb::make_tuple(status, sentence));
}

/// Runs call(pieces), a call of hpke/, without the GIL, and turns Error into its outcome. The main thread runs it in
/// pieces, so that a signal handler that raises can end it. If anything ends it early, `secrets` are overwritten.
template <class Call>
Outcome guarded(const Call& call, const Bytes& secrets) {
  struct Interrupted {};
  std::optional<Error> error;
  bool interrupted = false, no_memory = false;
  {
    WithoutGil no_gil;
    Pace pace = kFirstPiece;
    const auto pieces = [&](std::size_t count, const hpke::ComputePiece& compute) {
      const auto work = [&](std::size_t first, std::size_t items) {
        compute(first, items);
        return true;
      };
      if (!in_pieces(no_gil, pace, count, work)) throw Interrupted{};
    };
    try {
      call(pieces);
    } catch (const Interrupted&) {
      interrupted = true;
    } catch (const Error& thrown) {
      error = thrown;
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
  }
  if (interrupted || error || no_memory) polykem_zeroize(secrets.data(), secrets.size());
  if (interrupted) throw nb::python_error();
  if (error) return outcome(error->status(), error->what());
  const int status = no_memory ? POLYKEM_ERR_OUT_OF_MEMORY : POLYKEM_OK;
  return outcome(status, no_memory ? polykem_status_text(POLYKEM_ERR_OUT_OF_MEMORY) : "");
}

hpke::Messages messages_in(const MessageArray& messages) {
  return {messages.held.data(), messages.width, messages.at(), messages.shared};
}
hpke::MessagesOut messages_out(const MessageArray& messages) {
  return {messages.held.data(), messages.at()};
}

/// The inputs to set up contexts on either side, kept alive: keys, or one for all; info and pre-shared keys.
struct Setup {
  Setup(std::size_t items, nb::handle key, const char* key_name, std::size_t key_bytes, bool key_shared,
        const MessageTuple& info_given, const MessageTuple& psk_given, const MessageTuple& psk_id_given)
      : count(items),
        keys(key, key_name, (key_shared ? 1 : count) * key_bytes, false),
        shared(key_shared),
        info(info_given, count, "info"),
        psk(psk_given, count, "psk"),
        psk_id(psk_id_given, count, "psk_id") {}
  hpke::Records records() const { return {keys.data(), shared}; }
  hpke::Psk both() const { return {messages_in(psk), messages_in(psk_id)}; }

  std::size_t count;
  Bytes keys;
  bool shared;
  MessageArray info, psk, psk_id;
};

struct SenderSetup : Setup {
  SenderSetup(const Suite& suite, std::size_t count, nb::handle pk, bool pk_shared, const MessageTuple& info,
              const MessageTuple& psk, const MessageTuple& psk_id, nb::handle coins_given, nb::handle enc_out)
      : Setup(count, pk, "pk", suite.public_key_bytes(), pk_shared, info, psk, psk_id),
        coins(coins_given, "coins", count * suite.coin_bytes(), false),
        enc(enc_out, "enc", count * suite.enc_bytes(), true) {}
  hpke::SenderRequest request() const {
    return {count, records(), messages_in(info), both(), coins.data(), enc.data()};
  }

  Bytes coins, enc;
};

struct RecipientSetup : Setup {
  RecipientSetup(const Suite& suite, std::size_t count, nb::handle sk, bool sk_shared, const MessageTuple& info,
                 const MessageTuple& psk, const MessageTuple& psk_id, nb::handle enc_in)
      : Setup(count, sk, "sk", suite.secret_key_bytes(), sk_shared, info, psk, psk_id),
        enc(enc_in, "enc", count * suite.enc_bytes(), false) {}
  hpke::RecipientRequest request() const { return {count, records(), messages_in(info), both(), enc.data()}; }

  Bytes enc;
};

/// The statuses of `count` items, kept alive.
struct Statuses {
  Statuses(nb::handle object, std::size_t count) : held(object, "status", count * sizeof(ItemStatus), true) {}
  ItemStatus* data() const { return reinterpret_cast<ItemStatus*>(held.data()); }
  Bytes held;
};

/// Messages to seal or to open, and the results, kept alive.
struct MessageArrays {
  MessageArrays(std::size_t count, const MessageTuple& aad_given, const MessageTuple& read, const char* read_name,
                const MessageTuple& written, const char* written_name, nb::handle status_out)
      : aad(aad_given, count, "aad"),
        in(read, count, read_name),
        out(written, count, written_name, true),
        status(status_out, count) {}
  MessageArray aad, in, out;
  Statuses status;
};

Outcome seal(const Context& context, const Suite& suite, std::size_t count, nb::handle pk, bool pk_shared,
             MessageTuple info, MessageTuple psk, MessageTuple psk_id, MessageTuple aad, MessageTuple plaintexts,
             nb::handle coins, nb::handle enc, MessageTuple ciphertexts, nb::handle status) {
  const SenderSetup setup(suite, count, pk, pk_shared, info, psk, psk_id, coins, enc);
  const MessageArrays arrays(count, aad, plaintexts, "plaintexts", ciphertexts, "ciphertexts", status);
  const hpke::SealRequest request{{setup.request()},
                                  messages_in(arrays.aad),
                                  messages_in(arrays.in),
                                  messages_out(arrays.out),
                                  arrays.status.data()};
  const ContextHandle handle = context.handle();
  return guarded([&](const hpke::Pieces& pieces) { hpke::seal(handle.get(), suite, request, pieces); }, {});
}

Outcome open(const Context& context, const Suite& suite, std::size_t count, nb::handle sk, bool sk_shared,
             MessageTuple info, MessageTuple psk, MessageTuple psk_id, MessageTuple aad, nb::handle enc,
             MessageTuple ciphertexts, MessageTuple plaintexts, nb::handle status) {
  const RecipientSetup setup(suite, count, sk, sk_shared, info, psk, psk_id, enc);
  const MessageArrays arrays(count, aad, ciphertexts, "ciphertexts", plaintexts, "plaintexts", status);
  const hpke::OpenRequest request{{setup.request()},
                                  messages_in(arrays.aad),
                                  messages_in(arrays.in),
                                  messages_out(arrays.out),
                                  arrays.status.data()};
  const ContextHandle handle = context.handle();
  return guarded([&](const hpke::Pieces& pieces) { hpke::open(handle.get(), suite, request, pieces); },
                 arrays.out.held);
}

/// The contexts of one side, hpke::Sender or hpke::Recipient.
template <class Side>
class Contexts {
 public:
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  Outcome skip_to(std::uint64_t number) {
    return run([&](Side& side, const hpke::Pieces&) { side.skip_to(number); }, {});
  }

  /// Writes the number of each item's next message.
  Outcome numbers(nb::handle out) {
    const Bytes all(out, "numbers", count() * sizeof(std::uint64_t), true);
    auto* const to = reinterpret_cast<std::uint64_t*>(all.data());
    return run([&](Side& side, const hpke::Pieces&) { side.numbers(to); }, {});
  }

  Outcome export_secrets(MessageTuple contexts, std::size_t bytes, nb::handle out, nb::handle status) {
    const MessageArray exporter_contexts(contexts, count(), "exporter_context");
    const Bytes secrets(out, "secrets", count() * bytes, true);
    const Statuses statuses(status, count());
    const hpke::ExportRequest request{0,     count(),        messages_in(exporter_contexts),
                                      bytes, secrets.data(), statuses.data()};
    return run([&](Side& side, const hpke::Pieces& pieces) { side.export_secrets(request, pieces); }, secrets);
  }

  Outcome failure = outcome(POLYKEM_OK, "");  ///< of the setup

 protected:
  Contexts() = default;

  template <class Request>
  void set_up(const Context& context, const Suite& suite, const Request& request, const Statuses& status) {
    const ContextHandle handle = context.handle();
    const auto make = [&](const hpke::Pieces& pieces) {
      side_.emplace(handle.get(), suite, request, pieces);
      for (std::size_t i = 0; i < request.count; ++i)
        status.data()[i] = side_->status(i);
    };
    failure = guarded(make, {});
  }

  /// call(side, pieces)
  template <class Call>
  Outcome run(const Call& call, const Bytes& secrets) {
    if (!side_) return failure;
    return guarded([&](const hpke::Pieces& pieces) { call(*side_, pieces); }, secrets);
  }

  std::size_t count() const { return side_ ? side_->count() : 0; }

 private:
  std::optional<Side> side_;
};

class Sender : public Contexts<hpke::Sender> {
 public:
  Sender(const Context& context, const Suite& suite, std::size_t count, nb::handle pk, bool pk_shared,
         MessageTuple info, MessageTuple psk, MessageTuple psk_id, nb::handle coins, nb::handle enc,
         nb::handle status) {
    const SenderSetup setup(suite, count, pk, pk_shared, info, psk, psk_id, coins, enc);
    set_up(context, suite, setup.request(), Statuses(status, count));
  }

  Outcome seal(MessageTuple aad, MessageTuple plaintexts, MessageTuple ciphertexts, nb::handle status) {
    const MessageArrays arrays(count(), aad, plaintexts, "plaintexts", ciphertexts, "ciphertexts", status);
    const hpke::ContextSealRequest request{
        0, count(), messages_in(arrays.aad), messages_in(arrays.in), messages_out(arrays.out), arrays.status.data()};
    return run([&](hpke::Sender& side, const hpke::Pieces& pieces) { side.seal(request, pieces); }, {});
  }
};

class Recipient : public Contexts<hpke::Recipient> {
 public:
  Recipient(const Context& context, const Suite& suite, std::size_t count, nb::handle sk, bool sk_shared,
            MessageTuple info, MessageTuple psk, MessageTuple psk_id, nb::handle enc, nb::handle status) {
    const RecipientSetup setup(suite, count, sk, sk_shared, info, psk, psk_id, enc);
    set_up(context, suite, setup.request(), Statuses(status, count));
  }

  Outcome open(MessageTuple aad, MessageTuple ciphertexts, nb::handle numbers, MessageTuple plaintexts,
               nb::handle status) {
    const MessageArrays arrays(count(), aad, ciphertexts, "ciphertexts", plaintexts, "plaintexts", status);
    const Bytes wanted(numbers, "numbers", count() * sizeof(std::uint64_t), false);
    const auto* const given = reinterpret_cast<const std::uint64_t*>(wanted.data());
    const hpke::ContextOpenRequest request{0,
                                           count(),
                                           messages_in(arrays.aad),
                                           messages_in(arrays.in),
                                           given,
                                           messages_out(arrays.out),
                                           arrays.status.data()};
    return run([&](hpke::Recipient& side, const hpke::Pieces& pieces) { side.open(request, pieces); }, arrays.out.held);
  }
};

Outcome derive(const Context& context, const Suite& suite, std::size_t count, nb::handle ikm, std::size_t ikm_bytes,
               nb::handle pk, nb::handle sk, nb::handle status) {
  const Bytes in(ikm, "ikm", count * ikm_bytes, false);
  const Bytes pk_out(pk, "pk", count * suite.public_key_bytes(), true);
  const Bytes sk_out(sk, "sk", count * suite.secret_key_bytes(), true);
  const Statuses statuses(status, count);
  const ContextHandle handle = context.handle();
  const auto call = [&](const hpke::Pieces& pieces) {
    hpke::derive_key_pairs(handle.get(), suite, count, in.data(), ikm_bytes, pk_out.data(), sk_out.data(),
                           statuses.data(), pieces);
  };
  return guarded(call, sk_out);
}

Outcome generate(const Context& context, const Suite& suite, std::size_t count, nb::handle pk, nb::handle sk) {
  const Bytes pk_out(pk, "pk", count * suite.public_key_bytes(), true);
  const Bytes sk_out(sk, "sk", count * suite.secret_key_bytes(), true);
  const ContextHandle handle = context.handle();
  const auto call = [&](const hpke::Pieces& pieces) {
    hpke::generate(handle.get(), suite, count, pk_out.data(), sk_out.data(), pieces);
  };
  return guarded(call, sk_out);
}

Outcome public_keys(const Context& context, const Suite& suite, std::size_t count, nb::handle sk, nb::handle pk,
                    nb::handle status) {
  const Bytes sk_in(sk, "sk", count * suite.secret_key_bytes(), false);
  const Bytes pk_out(pk, "pk", count * suite.public_key_bytes(), true);
  const Statuses statuses(status, count);
  const ContextHandle handle = context.handle();
  const auto call = [&](const hpke::Pieces& pieces) {
    hpke::public_keys(handle.get(), suite, count, sk_in.data(), pk_out.data(), statuses.data(), pieces);
  };
  return guarded(call, {});
}

using Names = nb::typed<nb::list, nb::typed<nb::tuple, int, nb::str>>;

/// The number and name of each algorithm.
template <class List>
Names names(const List& list) {
  Names out;
  for (const auto& info : list)
    out.append(nb::make_tuple(static_cast<int>(info.id), std::string(info.name)));
  return out;
}

/// The same, followed by the KEMs' other names.
Names kem_names() {
  Names out = names(hpke::kems());
  for (const hpke::KemInfo& info : hpke::kems()) {
    if (!info.alias.empty()) out.append(nb::make_tuple(static_cast<int>(info.id), std::string(info.alias)));
  }
  return out;
}

/// Binds what both sides have.
template <class Side>
void bind_contexts(nb::class_<Side>& side) {
  side.def_ro("failure", &Side::failure)
      .def("export_secrets", &Side::export_secrets, "contexts"_a, "bytes"_a, "out"_a, "status"_a)
      .def("skip_to", &Side::skip_to, "number"_a)
      .def("numbers", &Side::numbers, "out"_a);
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
  nb::class_<Sender> sender(m, "HpkeSender");
  sender
      .def(nb::init<const Context&, const Suite&, std::size_t, nb::handle, bool, MessageTuple, MessageTuple,
                    MessageTuple, nb::handle, nb::handle, nb::handle>(),
           "context"_a, "suite"_a, "count"_a, "pk"_a, "pk_shared"_a, "info"_a, "psk"_a, "psk_id"_a, "coins"_a.none(),
           "enc"_a, "status"_a)
      .def("seal", &Sender::seal, "aad"_a, "plaintexts"_a, "ciphertexts"_a, "status"_a);
  bind_contexts(sender);
  nb::class_<Recipient> recipient(m, "HpkeRecipient");
  recipient
      .def(nb::init<const Context&, const Suite&, std::size_t, nb::handle, bool, MessageTuple, MessageTuple,
                    MessageTuple, nb::handle, nb::handle>(),
           "context"_a, "suite"_a, "count"_a, "sk"_a, "sk_shared"_a, "info"_a, "psk"_a, "psk_id"_a, "enc"_a, "status"_a)
      .def("open", &Recipient::open, "aad"_a, "ciphertexts"_a, "numbers"_a.none(), "plaintexts"_a, "status"_a);
  bind_contexts(recipient);
}

}  // namespace polykem::python
