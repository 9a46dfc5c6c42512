// SPDX-License-Identifier: Apache-2.0
// polykem: a C++ wrapper of the C API. Header only, C++17; it offers nothing beyond polykem.h.
//
//  - Handles are owned (Context, Job, KeySet) or plain values (Scheme). Errors are thrown as polykem::Error.
//  - Buffers are checked against the set's record sizes before the call; a wrong size throws with POLYKEM_ERR_SIZE.
//  - Malformed items do not throw: `items` of the result says which they are, and the other items are computed.
//  - Secret keys and shared secrets live in SecretBytes, which zeroizes its memory.
#pragma once

#include <polykem/polykem.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace polykem {
inline namespace v0 {

/// A failed call: what() is a sentence, status() the code of the C API.
class Error : public std::runtime_error {
 public:
  Error(polykem_status status, const std::string& what)
      : std::runtime_error(what + ": " + polykem_status_text(status)), status_(status) {}
  polykem_status status() const noexcept { return status_; }

 private:
  polykem_status status_;
};

/// Throws Error unless `status` is POLYKEM_OK. `what` names what was attempted.
inline void check(polykem_status status, const char* what) {
  if (status != POLYKEM_OK) throw Error(status, what);
}

/// An allocator whose memory is overwritten with zeros before it is given back.
template <class T>
struct ZeroizingAllocator {
  using value_type = T;
  ZeroizingAllocator() = default;
  template <class U>
  ZeroizingAllocator(const ZeroizingAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T* p, std::size_t n) noexcept {
    polykem_zeroize(p, n * sizeof(T));
    std::allocator<T>().deallocate(p, n);
  }
  template <class U>
  bool operator==(const ZeroizingAllocator<U>&) const noexcept {
    return true;
  }
  template <class U>
  bool operator!=(const ZeroizingAllocator<U>&) const noexcept {
    return false;
  }
};

using Bytes = std::vector<std::uint8_t>;
using SecretBytes = std::vector<std::uint8_t, ZeroizingAllocator<std::uint8_t>>;

/// Read-only view of bytes: made from any vector or array of bytes, or from a pointer and a length.
class ByteView {
 public:
  constexpr ByteView() = default;
  constexpr ByteView(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <class Allocator>
  ByteView(const std::vector<std::uint8_t, Allocator>& bytes) : data_(bytes.data()), size_(bytes.size()) {}
  template <std::size_t N>
  constexpr ByteView(const std::array<std::uint8_t, N>& bytes) : data_(bytes.data()), size_(N) {}
  constexpr const std::uint8_t* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

enum class KeyMode { kPerItem = POLYKEM_KEY_PER_ITEM, kShared = POLYKEM_KEY_SHARED };
enum class KeyKind { kPublic = POLYKEM_PUBLIC_KEYS, kSecret = POLYKEM_SECRET_KEYS, kSeed = POLYKEM_SECRET_SEEDS };
enum class SecretForm { kExpanded = POLYKEM_SECRET_EXPANDED, kSeed = POLYKEM_SECRET_SEED };

/// One parameter set. A small value; the set itself has static storage.
class Scheme {
 public:
  explicit Scheme(const polykem_scheme* handle) : handle_(handle) {
    info_.struct_size = sizeof info_;
    check(polykem_scheme_info(handle, &info_), "parameter set");
  }

  /// A KEM's set, by registry name or alias; letter case, '-' and '_' do not matter. Throws if there is none.
  static Scheme find(const std::string& name) {
    const polykem_scheme* handle = nullptr;
    const polykem_status status = polykem_scheme_find(name.c_str(), &handle);
    if (status == POLYKEM_ERR_UNKNOWN_SCHEME) {
      throw Error(status, "'" + name + "' (nearest: '" + polykem_scheme_suggest(name.c_str()) + "')");
    }
    check(status, "parameter set");
    return Scheme(handle);
  }

  /// A signature set, likewise.
  static Scheme find_signature(const std::string& name) {
    const polykem_scheme* handle = nullptr;
    const polykem_status status = polykem_signature_find(name.c_str(), &handle);
    if (status == POLYKEM_ERR_UNKNOWN_SCHEME) {
      throw Error(status, "'" + name + "' (nearest: '" + polykem_signature_suggest(name.c_str()) + "')");
    }
    check(status, "signature set");
    return Scheme(handle);
  }

  /// All KEM sets of this build, in registry order.
  static std::vector<Scheme> all() {
    std::vector<Scheme> out;
    for (std::size_t i = 0; i < polykem_scheme_count(); ++i)
      out.emplace_back(polykem_scheme_at(i));
    return out;
  }

  /// All signature sets.
  static std::vector<Scheme> all_signatures() {
    std::vector<Scheme> out;
    for (std::size_t i = 0; i < polykem_signature_count(); ++i)
      out.emplace_back(polykem_signature_at(i));
    return out;
  }

  const polykem_scheme* handle() const noexcept { return handle_; }
  const polykem_scheme_info_t& info() const noexcept { return info_; }
  const char* name() const noexcept { return info_.name; }
  std::size_t public_key_bytes() const noexcept { return info_.public_key_bytes; }
  std::size_t secret_key_bytes() const noexcept { return info_.secret_key_bytes; }
  std::size_t ciphertext_bytes() const noexcept { return info_.ciphertext_bytes; }
  std::size_t shared_secret_bytes() const noexcept { return info_.shared_secret_bytes; }
  std::size_t signature_bytes() const noexcept { return info_.signature_bytes; }
  bool is_signature() const noexcept { return info_.signature_bytes != 0; }

  friend bool operator==(const Scheme& a, const Scheme& b) noexcept { return a.handle_ == b.handle_; }
  friend bool operator!=(const Scheme& a, const Scheme& b) noexcept { return a.handle_ != b.handle_; }

 private:
  const polykem_scheme* handle_;
  polykem_scheme_info_t info_{};
};

/// `count` key pairs, contiguous.
struct KeyPairs {
  Bytes pk;
  SecretBytes sk;
};

/// `count` ciphertexts and shared secrets. items: a status per item, empty if every item succeeded.
struct Encapsulations {
  Bytes ct;
  SecretBytes ss;
  std::vector<polykem_status> items;
};

/// `count` shared secrets. items: a status per item, empty if every item succeeded.
struct SharedSecrets {
  SecretBytes ss;
  std::vector<polykem_status> items;
};

/// A byte string for each item of a batch. It refers to the caller's bytes; only copies() has bytes of its own.
class Strings {
 public:
  Strings() = default;  ///< all are empty
  /// One string for all items.
  static Strings shared(ByteView one) {
    Strings out;
    out.strings_ = {one.size() == 0 ? nullptr : one.data(), nullptr, one.size(), 1};
    return out;
  }
  /// `all` consists of strings of `width` bytes each.
  static Strings of_width(ByteView all, std::size_t width) {
    if (width == 0 || all.size() % width != 0)
      throw Error(POLYKEM_ERR_SIZE,
                  "strings of width " + std::to_string(width) + " in " + std::to_string(all.size()) + " bytes");
    Strings out;
    out.strings_ = {all.data(), nullptr, width, 0};
    out.count_ = all.size() / width;
    return out;
  }
  /// String i is all[offsets[i]] up to all[offsets[i + 1] - 1].
  static Strings at(ByteView all, std::vector<std::size_t> offsets) {
    bool fit = !offsets.empty() && offsets.back() <= all.size();
    for (std::size_t i = 1; fit && i < offsets.size(); ++i)
      fit = offsets[i - 1] <= offsets[i];
    if (!fit) throw Error(POLYKEM_ERR_ARGUMENT, "offsets of strings that decrease or exceed the bytes");
    Strings out;
    out.count_ = offsets.size() - 1;
    out.offsets_ = std::move(offsets);
    out.strings_.data = all.data();
    return out;
  }
  /// Copies the entries of a list, which have data() and size(): Bytes or std::string, for example.
  template <class List>
  static Strings copies(const List& list) {
    Bytes all;
    std::vector<std::size_t> offsets{0};
    for (const auto& entry : list) {
      all.insert(all.end(), entry.data(), entry.data() + entry.size());
      offsets.push_back(all.size());
    }
    Strings out = at(all, std::move(offsets));
    out.bytes_ = std::move(all);
    return out;
  }

  /// True if there is a string for each of `count` items.
  bool fit(std::size_t count) const noexcept {
    const bool all_empty = offsets_.empty() && strings_.width == 0;
    return all_empty || strings_.shared != 0 || count_ == count;
  }
  /// The C struct for a request; valid while this object lives.
  polykem_strings c_strings() const noexcept {
    polykem_strings out = strings_;
    if (!offsets_.empty()) out.offsets = offsets_.data();
    if (!bytes_.empty()) out.data = bytes_.data();
    return out;
  }

 private:
  polykem_strings strings_{};
  std::size_t count_ = 0;
  Bytes bytes_;
  std::vector<std::size_t> offsets_;
};

/// The messages that a batch signs or verifies.
struct Messages {
  Messages(Strings of_messages, Strings of_contexts = {})
      : strings(std::move(of_messages)), contexts(std::move(of_contexts)) {}

  Strings strings;
  Strings contexts;  ///< of at most 255 bytes each
  polykem_message_kind kind = POLYKEM_MESSAGE;
  ByteView digest_oid;         ///< of digests: the hash's object identifier in DER
  bool deterministic = false;  ///< rnd is zero

  /// The C struct for a request; valid while this object lives.
  polykem_messages c_messages() const noexcept {
    return {
        sizeof(polykem_messages), kind, strings.c_strings(), contexts.c_strings(), digest_oid.data(), digest_oid.size(),
        deterministic ? 1 : 0};
  }
};

/// `count` signatures. items: a status per item, empty if every item succeeded.
struct Signatures {
  Bytes sig;
  std::vector<polykem_status> items;
};

/// Which signatures verify. items: a status per item, empty if every signature is valid.
struct Verification {
  std::vector<polykem_status> items;
  bool valid(std::size_t item) const { return items.empty() || items.at(item) == POLYKEM_OK; }
  bool all_valid() const noexcept { return items.empty(); }
};

/// One step of an operation's plan, and the specification's stages that it covers, separated by '+'.
struct PlanStep {
  std::string step;
  std::string stages;
};

/// A batch that runs in the background. Destruction waits for it.
class Job {
 public:
  Job() = default;
  explicit Job(polykem_job* job) : job_(job) {}
  /// POLYKEM_ERR_BUSY while it runs, then the batch's status.
  polykem_status poll() const { return polykem_job_poll(job_.get()); }
  /// Blocks until the batch has finished and returns its status.
  polykem_status wait() const { return polykem_job_wait(job_.get()); }
  explicit operator bool() const noexcept { return job_ != nullptr; }

 private:
  struct Free {
    void operator()(polykem_job* job) const noexcept { polykem_job_free(job); }
  };
  std::unique_ptr<polykem_job, Free> job_;
};

/// Keys that stay where they are used. A set must not outlive its context, and no batch may use it when it is
/// destroyed.
class KeySet {
 public:
  KeySet() = default;
  explicit KeySet(polykem_keyset* set) : set_(set) {}
  std::size_t size() const noexcept { return set_ ? polykem_keyset_size(set_.get()) : 0; }
  const polykem_keyset* handle() const noexcept { return set_.get(); }

 private:
  struct Free {
    void operator()(polykem_keyset* set) const noexcept { polykem_keyset_free(set); }
  };
  std::unique_ptr<polykem_keyset, Free> set_;
};

/// A thread pool, a choice of backend and random generators. May be used by several threads at once.
class Context {
 public:
  /// threads: 0 for one per CPU this process may use. backend: empty for POLYKEM_BACKEND if set, else the best.
  explicit Context(unsigned threads = 0, const std::string& backend = {}) {
    polykem_config config{};
    config.struct_size = sizeof config;
    config.threads = threads;
    config.backend = backend.empty() ? nullptr : backend.c_str();
    polykem_context* handle = nullptr;
    check(polykem_context_new(&config, &handle), "context");
    context_.reset(handle);
  }

  polykem_context* handle() const noexcept { return context_.get(); }
  unsigned threads() const noexcept { return polykem_context_threads(context_.get()); }
  /// Name of the backend that runs `scheme` here; empty if none can.
  std::string backend(const Scheme& scheme) const {
    const char* name = polykem_context_backend(context_.get(), scheme.handle());
    return name == nullptr ? std::string() : std::string(name);
  }

  /// A request with struct_size, op, scheme and count filled in.
  static polykem_request request(polykem_op op, const Scheme& scheme, std::size_t count) {
    polykem_request request{};
    request.struct_size = sizeof request;
    request.op = op;
    request.scheme = scheme.handle();
    request.count = count;
    return request;
  }

  /// Runs any batch and returns its status: POLYKEM_OK or POLYKEM_ERR_ITEMS; throws for any other.
  polykem_status run(const polykem_request& request) const {
    const polykem_status status = polykem_run(context_.get(), &request);
    if (status != POLYKEM_ERR_ITEMS) check(status, "batch");
    return status;
  }

  /// Starts a batch. The buffers must stay valid until the job has finished.
  Job submit(const polykem_request& request, polykem_callback callback = nullptr, void* user = nullptr) const {
    polykem_job* job = nullptr;
    check(polykem_submit(context_.get(), &request, callback, user, &job), "submit");
    return Job(job);
  }

  /// Makes `count` key pairs. coins: empty, or count x keygen_coin_bytes to derandomise.
  KeyPairs keygen(const Scheme& scheme, std::size_t count, ByteView coins = {}) const {
    const auto& info = scheme.info();
    KeyPairs out{Bytes(count * info.public_key_bytes), SecretBytes(count * info.secret_key_bytes)};
    polykem_request r = request(POLYKEM_KEYGEN, scheme, count);
    r.coins = coins_or_null(coins, count * info.keygen_coin_bytes);
    r.pk_out = out.pk.data();
    r.sk_out = out.sk.data();
    run(r);
    return out;
  }

  /// Encapsulates `count` times. pk: count keys, or one with KeyMode::kShared.
  Encapsulations encaps(const Scheme& scheme, std::size_t count, KeyMode mode, ByteView pk, ByteView coins = {}) const {
    const auto& info = scheme.info();
    need(pk, keys(mode, count) * info.public_key_bytes, "public keys");
    Encapsulations out{Bytes(count * info.ciphertext_bytes), SecretBytes(count * info.shared_secret_bytes), {}};
    polykem_request r = request(POLYKEM_ENCAPS, scheme, count);
    r.key_mode = static_cast<polykem_key_mode>(mode);
    r.pk = pk.data();
    r.coins = coins_or_null(coins, count * info.encaps_coin_bytes);
    r.ct_out = out.ct.data();
    r.ss_out = out.ss.data();
    run_items(r, out.items);
    return out;
  }

  /// Decapsulates `count` ciphertexts. sk: count keys in the given form, or one with KeyMode::kShared.
  SharedSecrets decaps(const Scheme& scheme, std::size_t count, KeyMode mode, ByteView sk, ByteView ct,
                       SecretForm form = SecretForm::kExpanded) const {
    const auto& info = scheme.info();
    const std::size_t record = form == SecretForm::kSeed ? info.secret_seed_bytes : info.secret_key_bytes;
    need(sk, keys(mode, count) * record, "secret keys");
    need(ct, count * info.ciphertext_bytes, "ciphertexts");
    SharedSecrets out{SecretBytes(count * info.shared_secret_bytes), {}};
    polykem_request r = request(POLYKEM_DECAPS, scheme, count);
    r.key_mode = static_cast<polykem_key_mode>(mode);
    r.secret_form = static_cast<polykem_secret_form>(form);
    r.sk = sk.data();
    r.ct = ct.data();
    r.ss_out = out.ss.data();
    run_items(r, out.items);
    return out;
  }

  /// Signs `count` messages. sk: count keys in the given form, or one with KeyMode::kShared. coins: empty, or
  /// count x sign_coin_bytes.
  Signatures sign(const Scheme& scheme, std::size_t count, KeyMode mode, ByteView sk, const Messages& messages,
                  ByteView coins = {}, SecretForm form = SecretForm::kExpanded) const {
    const auto& info = scheme.info();
    const std::size_t record = form == SecretForm::kSeed ? info.secret_seed_bytes : info.secret_key_bytes;
    need(sk, keys(mode, count) * record, "secret keys");
    need_strings(messages, count);
    Signatures out{Bytes(count * info.signature_bytes), {}};
    const polykem_messages given = messages.c_messages();
    polykem_request r = request(POLYKEM_SIGN, scheme, count);
    r.key_mode = static_cast<polykem_key_mode>(mode);
    r.secret_form = static_cast<polykem_secret_form>(form);
    r.sk = sk.data();
    r.coins = coins_or_null(coins, count * info.sign_coin_bytes);
    r.messages = &given;
    r.sig_out = out.sig.data();
    run_items(r, out.items);
    return out;
  }

  /// Verifies `count` signatures. pk: count keys, or one with KeyMode::kShared.
  Verification verify(const Scheme& scheme, std::size_t count, KeyMode mode, ByteView pk, const Messages& messages,
                      ByteView sig) const {
    need(pk, keys(mode, count) * scheme.public_key_bytes(), "public keys");
    need(sig, count * scheme.signature_bytes(), "signatures");
    need_strings(messages, count);
    const polykem_messages given = messages.c_messages();
    polykem_request r = request(POLYKEM_VERIFY, scheme, count);
    r.key_mode = static_cast<polykem_key_mode>(mode);
    r.pk = pk.data();
    r.messages = &given;
    r.sig = sig.data();
    Verification out;
    run_items(r, out.items);
    return out;
  }

  /// Copies `count` keys into a set.
  KeySet import_keys(const Scheme& scheme, KeyKind kind, std::size_t count, ByteView keys) const {
    const auto& info = scheme.info();
    const std::size_t record = kind == KeyKind::kPublic ? info.public_key_bytes
                               : kind == KeyKind::kSeed ? info.secret_seed_bytes
                                                        : info.secret_key_bytes;
    need(keys, count * record, "keys");
    polykem_keyset* set = nullptr;
    const auto c_kind = static_cast<polykem_key_kind>(kind);
    check(polykem_keyset_import(context_.get(), scheme.handle(), c_kind, count, keys.data(), &set), "key set");
    return KeySet(set);
  }

  /// Makes `count` key pairs whose secret keys stay in the set; the public keys go to `pk`.
  KeySet generate_keys(const Scheme& scheme, std::size_t count, Bytes& pk) const {
    pk.resize(count * scheme.public_key_bytes());
    polykem_keyset* set = nullptr;
    check(polykem_keyset_generate(context_.get(), scheme.handle(), count, pk.data(), &set), "key set");
    return KeySet(set);
  }

  /// Starts (clearing earlier figures) or stops recording the time of every step.
  void profile(bool enable) const { check(polykem_profile_enable(context_.get(), enable ? 1 : 0), "profile"); }

  /// The recorded steps, in plan order.
  std::vector<polykem_step_record> profile_records() const {
    std::size_t size = 0;
    check(polykem_profile_read(context_.get(), nullptr, 0, &size), "profile");
    std::vector<polykem_step_record> out(size);
    if (!out.empty()) out.front().struct_size = sizeof(polykem_step_record);
    check(polykem_profile_read(context_.get(), out.data(), out.size(), &size), "profile");
    if (size < out.size()) out.resize(size);
    return out;
  }

  /// The steps that `op` of `scheme` takes in this context.
  std::vector<PlanStep> plan(const Scheme& scheme, polykem_op op) const {
    std::vector<PlanStep> out;
    const char* step = nullptr;
    const char* stages = nullptr;
    for (;;) {
      const polykem_status status = polykem_plan_step(context_.get(), scheme.handle(), op, out.size(), &step, &stages);
      if (status == POLYKEM_ERR_RANGE) return out;
      check(status, "plan");
      out.push_back({step, stages});
    }
  }

 private:
  struct Free {
    void operator()(polykem_context* context) const noexcept { polykem_context_free(context); }
  };

  static std::size_t keys(KeyMode mode, std::size_t count) { return mode == KeyMode::kShared ? 1 : count; }

  static void need(ByteView bytes, std::size_t size, const char* what) {
    if (bytes.size() == size) return;
    throw Error(POLYKEM_ERR_SIZE,
                std::string(what) + " of " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(size));
  }

  static void need_strings(const Messages& messages, std::size_t count) {
    if (!messages.strings.fit(count) || !messages.contexts.fit(count))
      throw Error(POLYKEM_ERR_SIZE, "expected " + std::to_string(count) + " messages and contexts");
  }

  static const std::uint8_t* coins_or_null(ByteView coins, std::size_t size) {
    if (coins.size() == 0) return nullptr;
    need(coins, size, "coins");
    return coins.data();
  }

  void run_items(polykem_request& r, std::vector<polykem_status>& items) const {
    items.assign(r.count, POLYKEM_OK);
    r.item_status = items.data();
    if (run(r) == POLYKEM_OK) items.clear();
  }

  std::unique_ptr<polykem_context, Free> context_;
};

/// One operation that was handed in. Destruction drops it if it has not begun.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(polykem_ticket* ticket) : ticket_(ticket) {}
  /// POLYKEM_ERR_BUSY until it has finished, then the operation's status.
  polykem_status poll() const { return polykem_ticket_poll(ticket_.get()); }
  /// Blocks until it has finished and returns the operation's status.
  polykem_status wait() const { return polykem_ticket_wait(ticket_.get()); }
  /// Copies the results out, waits if it must. Either may be NULL.
  polykem_status take(std::uint8_t* public_out, std::uint8_t* secret_out) const {
    return polykem_ticket_take(ticket_.get(), public_out, secret_out);
  }
  /// The size of the batch that it was computed in; 0: not finished yet.
  std::size_t batch_items() const { return polykem_ticket_batch_items(ticket_.get()); }
  explicit operator bool() const noexcept { return ticket_ != nullptr; }

 private:
  struct Free {
    void operator()(polykem_ticket* ticket) const noexcept { polykem_ticket_free(ticket); }
  };
  std::unique_ptr<polykem_ticket, Free> ticket_;
};

/// Collects single operations into batches. Its context must outlive it; destruction waits for operations in flight.
class Batcher {
 public:
  /// struct_size of the configuration need not be set.
  explicit Batcher(const Context& context, polykem_batcher_config config = {}) {
    config.struct_size = sizeof config;
    polykem_batcher* handle = nullptr;
    check(polykem_batcher_new(context.handle(), &config, &handle), "batcher");
    batcher_.reset(handle);
  }

  polykem_batcher* handle() const noexcept { return batcher_.get(); }

  /// Hands in an operation, see polykem_batcher_add. Returns an empty ticket if too many operations are in flight.
  Ticket add(const polykem_request& request, polykem_ticket_callback done = nullptr, void* user = nullptr) const {
    polykem_ticket* ticket = nullptr;
    const polykem_status status = polykem_batcher_add(batcher_.get(), &request, done, user, &ticket);
    if (status != POLYKEM_ERR_BUSY) check(status, "operation");
    return Ticket(ticket);
  }

  polykem_batcher_stats_t stats(const Scheme& scheme, polykem_op op) const {
    polykem_batcher_stats_t out{};
    out.struct_size = sizeof out;
    check(polykem_batcher_stats(batcher_.get(), scheme.handle(), op, &out), "counters");
    return out;
  }

  /// The CPU, then a GPU and a broker if there are any.
  std::vector<polykem_executor_health_t> health() const {
    std::vector<polykem_executor_health_t> out;
    for (;;) {
      polykem_executor_health_t executor{};
      executor.struct_size = sizeof executor;
      const polykem_status status = polykem_batcher_health(batcher_.get(), out.size(), &executor);
      if (status == POLYKEM_ERR_RANGE) return out;
      check(status, "executor");
      out.push_back(executor);
    }
  }

 private:
  struct Free {
    void operator()(polykem_batcher* batcher) const noexcept { polykem_batcher_free(batcher); }
  };
  std::unique_ptr<polykem_batcher, Free> batcher_;
};

}  // namespace v0
}  // namespace polykem
