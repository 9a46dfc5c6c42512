// SPDX-License-Identifier: Apache-2.0
#include "scenarios.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace polykem::test {

namespace {

constexpr uint8_t kUntouched = 0xa5;

bool all(const Bytes& bytes, uint8_t value) {
  return std::all_of(bytes.begin(), bytes.end(), [value](uint8_t byte) { return byte == value; });
}

struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  polykem_status status = POLYKEM_OK;

  static void finish(void* user, polykem_status status) {
    auto& self = *static_cast<Waiting*>(user);
    const std::lock_guard lock(self.mutex);
    self.done = true;
    self.status = status;
    self.changed.notify_all();
  }
  polykem_status wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return done; });
    return status;
  }
};

}  // namespace

Watched::Watched(const Shape& shape) : shape_(shape) {}

void Watched::begin() {
  const size_t n = shape_.count;
  polykem_scheme_info_t sizes{};
  sizes.struct_size = sizeof sizes;
  if (polykem_scheme_find(shape_.scheme, &scheme_) != POLYKEM_OK) polykem_signature_find(shape_.scheme, &scheme_);
  polykem_scheme_info(scheme_, &sizes);
  const polykem_config config{sizeof config, shape_.threads, shape_.backend};
  polykem_context_new(&config, &context_);
  pk_.resize(n * sizes.public_key_bytes);
  sk_.resize(n * sizes.secret_key_bytes);
  ct_.resize(n * (sizes.ciphertext_bytes + sizes.signature_bytes));
  ss_.resize(n * sizes.shared_secret_bytes);
  offsets_.assign(1, 0);
  for (size_t i = 0; i < n; ++i)
    offsets_.push_back(offsets_.back() + i % 40);
  texts_.assign(offsets_.back() + 1, 0x5c);
  messages_ = {sizeof messages_, POLYKEM_MESSAGE, {texts_.data(), offsets_.data(), 0, 0}, {}, nullptr, 0, 0};
  make_inputs();
  index_.resize(n);
  for (size_t i = 0; i < n; ++i)
    index_[i] = i;
  if (shape_.by_keyset) {
    const bool secret = uses_secret_keys();
    polykem_keyset_import(context_, scheme_, secret ? POLYKEM_SECRET_KEYS : POLYKEM_PUBLIC_KEYS, n,
                          secret ? sk_.data() : pk_.data(), &keyset_);
  }
  pk_out_.assign(pk_.size(), kUntouched);
  sk_out_.assign(sk_.size(), kUntouched);
  ct_out_.assign(ct_.size(), kUntouched);
  ss_out_.assign(ss_.size(), kUntouched);
  item_status_.assign(n, POLYKEM_ERR_BUSY);
}

/// Uses another context, so that the one under test starts its threads and generators later.
void Watched::make_inputs() {
  if (shape_.op == POLYKEM_KEYGEN) return;
  const polykem_config config{sizeof config, 1, nullptr};
  polykem_context* maker = nullptr;
  polykem_context_new(&config, &maker);
  polykem_keygen(maker, scheme_, shape_.count, pk_.data(), sk_.data());
  if (shape_.op == POLYKEM_DECAPS)
    polykem_encaps(maker, scheme_, shape_.count, POLYKEM_KEY_PER_ITEM, pk_.data(), ct_.data(), ss_.data(), nullptr);
  if (shape_.op == POLYKEM_VERIFY) sign(maker, sk_, ct_);
  polykem_context_free(maker);
}

polykem_status Watched::sign(polykem_context* context, const Bytes& sk, Bytes& sig) const {
  polykem_request request = request_of(POLYKEM_SIGN);
  request.sk = sk.data();
  request.messages = &messages_;
  request.sig_out = sig.data();
  return polykem_run(context, &request);
}

polykem_status Watched::verify(polykem_context* context, const Bytes& pk, const Bytes& sig) const {
  polykem_request request = request_of(POLYKEM_VERIFY);
  request.pk = pk.data();
  request.messages = &messages_;
  request.sig = sig.data();
  return polykem_run(context, &request);
}

polykem_request Watched::request_of(polykem_op op) const {
  polykem_request request{};
  request.struct_size = sizeof request;
  request.op = op;
  request.scheme = scheme_;
  request.count = shape_.count;
  return request;
}

polykem_request Watched::request() {
  polykem_request request = request_of(shape_.op);
  if (shape_.op == POLYKEM_KEYGEN) {
    request.pk_out = pk_out_.data();
    request.sk_out = sk_out_.data();
  } else {
    request.keyset = keyset_;
    request.key_index = shape_.by_keyset ? index_.data() : nullptr;
    (uses_secret_keys() ? request.sk : request.pk) =
        shape_.by_keyset ? nullptr : (uses_secret_keys() ? sk_ : pk_).data();
    request.ct = shape_.op == POLYKEM_DECAPS ? ct_.data() : nullptr;
    request.ct_out = shape_.op == POLYKEM_ENCAPS ? ct_out_.data() : nullptr;
    request.ss_out = ss_out_.data();
    request.messages = &messages_;
    request.sig = shape_.op == POLYKEM_VERIFY ? ct_.data() : nullptr;
    request.sig_out = shape_.op == POLYKEM_SIGN ? ct_out_.data() : nullptr;
  }
  request.item_status = shape_.with_item_status ? item_status_.data() : nullptr;
  return request;
}

polykem_status Watched::run() {
  const polykem_request batch = request();
  return polykem_run(context_, &batch);
}

polykem_status Watched::run_profiled() {
  polykem_step_record records[32] = {};
  records[0].struct_size = sizeof records[0];
  size_t size = 0;
  const polykem_status enabled = polykem_profile_enable(context_, 1);
  const polykem_status status = run();
  const polykem_status read = polykem_profile_read(context_, records, 32, &size);
  const bool sound = enabled == POLYKEM_OK && (read == POLYKEM_OK || read == POLYKEM_ERR_OUT_OF_MEMORY);
  return sound ? status : POLYKEM_ERR_INTERNAL;
}

polykem_status Watched::submit_and_wait() {
  const polykem_request batch = request();
  polykem_job* job = nullptr;
  const polykem_status status = polykem_submit(context_, &batch, nullptr, nullptr, &job);
  if (status != POLYKEM_OK) return status;
  const polykem_status result = polykem_job_wait(job);
  polykem_job_free(job);
  return result;
}

polykem_status Watched::submit_with_callback() {
  const polykem_request batch = request();
  Waiting waiting;
  const polykem_status status = polykem_submit(context_, &batch, Waiting::finish, &waiting, nullptr);
  return status == POLYKEM_OK ? waiting.wait() : status;
}

std::string Watched::check(polykem_status status) {
  if (shape_.with_item_status && status != POLYKEM_OK) {
    for (const polykem_status item : item_status_) {
      if (item != status) return std::string("an item of the failed batch says: ") + polykem_status_text(item);
    }
  }
  return status == POLYKEM_OK ? check_right() : check_wiped();
}

/// The outputs of a failed batch are zero: it was out of memory or of random numbers.
std::string Watched::check_wiped() const {
  const bool keygen = shape_.op == POLYKEM_KEYGEN, encaps = shape_.op == POLYKEM_ENCAPS;
  if (shape_.op == POLYKEM_VERIFY) return "";
  if (shape_.op == POLYKEM_SIGN) return all(ct_out_, 0) ? "" : "signatures of a failed batch are not zero";
  if (keygen && !(all(pk_out_, 0) && all(sk_out_, 0))) return "keys of a failed batch are not zero";
  if (encaps && !all(ct_out_, 0)) return "ciphertexts of a failed batch are not zero";
  if (!keygen && !all(ss_out_, 0)) return "shared secrets of a failed batch are not zero";
  return "";
}

/// Keys make signatures that verify; signatures do so with these messages only.
std::string Watched::check_signatures() {
  polykem_status status = POLYKEM_OK;
  if (shape_.op == POLYKEM_KEYGEN) status = sign(context_, sk_out_, ct_);
  const Bytes& sig = shape_.op == POLYKEM_SIGN ? ct_out_ : ct_;
  const Bytes& pk = shape_.op == POLYKEM_KEYGEN ? pk_out_ : pk_;
  if (status == POLYKEM_OK) status = verify(context_, pk, sig);
  if (status != POLYKEM_OK) return std::string("signatures do not verify: ") + polykem_status_text(status);
  messages_.contexts = {texts_.data(), nullptr, 1, 1};
  status = verify(context_, pk, sig);
  messages_.contexts = {};
  return status == POLYKEM_ERR_ITEMS ? "" : "signatures verify in another context";
}

/// Keys, ciphertexts and secrets fit together.
std::string Watched::check_right() {
  polykem_scheme_info_t sizes{};
  sizes.struct_size = sizeof sizes;
  polykem_scheme_info(scheme_, &sizes);
  if (sizes.signature_bytes > 0) return check_signatures();
  const size_t n = shape_.count;
  Bytes secrets(ss_.size());
  polykem_status status = POLYKEM_OK;
  if (shape_.op == POLYKEM_KEYGEN) {
    status =
        polykem_encaps(context_, scheme_, n, POLYKEM_KEY_PER_ITEM, pk_out_.data(), ct_.data(), ss_.data(), nullptr);
    if (status == POLYKEM_OK)
      status = polykem_decaps(context_, scheme_, n, POLYKEM_KEY_PER_ITEM, sk_out_.data(), ct_.data(), secrets.data(),
                              nullptr);
    ss_out_ = ss_;
  } else if (shape_.op == POLYKEM_ENCAPS) {
    status =
        polykem_decaps(context_, scheme_, n, POLYKEM_KEY_PER_ITEM, sk_.data(), ct_out_.data(), secrets.data(), nullptr);
  } else {
    secrets = ss_;
  }
  if (status != POLYKEM_OK) return std::string("the check itself failed: ") + polykem_status_text(status);
  return secrets == ss_out_ ? "" : "a batch that succeeded has wrong outputs";
}

void Watched::end() {
  polykem_keyset_free(keyset_);
  polykem_context_free(context_);
  keyset_ = nullptr;
  context_ = nullptr;
  for (Bytes* bytes : {&pk_, &sk_, &ct_, &ss_, &pk_out_, &sk_out_, &ct_out_, &ss_out_, &texts_})
    Bytes().swap(*bytes);
  std::vector<size_t>().swap(index_);
  std::vector<size_t>().swap(offsets_);
  std::vector<polykem_status>().swap(item_status_);
}

Scenario Watched::scenario(const Shape& shape, polykem_status (Watched::*act)()) {
  auto watched = std::make_shared<Watched>(shape);
  return {.begin = [watched] { watched->begin(); },
          .act = [watched, act] { return (*watched.*act)(); },
          .check = [watched](polykem_status status) { return watched->check(status); },
          .end = [watched] { watched->end(); },
          .allows = documented};
}

void PrintTo(const Watched::Shape& s, std::ostream* out) {
  static constexpr const char* kOps[] = {"Keygen", "Encaps", "Decaps", "Sign", "Verify"};
  *out << kOps[s.op] << '_' << s.scheme << '_' << s.count << "items_" << s.threads << "threads";
  if (s.by_keyset) *out << "_keyset";
  if (s.with_item_status) *out << "_item_status";
  if (s.backend != nullptr) *out << '_' << s.backend;
}

}  // namespace polykem::test
