// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/batch.hpp"

#include "core/round.hpp"
#include "ct/ct.hpp"

namespace polykem {

bool BatchMemory::gather(const std::vector<Ticket*>& tickets) {
  const size_t count = tickets.size();
  status_.assign(count, Status::kOk);
  request_ = tickets.front()->inputs();
  item_ = tickets.front()->item();
  BatchView& all = request_.records;
  all.count = count;
  const size_t mu_bytes = item_.mu_bytes();
  size_t needed = count * mu_bytes;
  for (const FieldInfo& f : kRecordFields)
    needed += rounded_up(count * item_.bytes(f), 64);
  if (!memory_.reserve(needed)) return false;
  all.item_status = status_.data();
  auto* next = reinterpret_cast<uint8_t*>(memory_.data());
  for (const FieldInfo& f : kRecordFields) {
    if (!item_.has(f)) continue;
    const size_t bytes = item_.bytes(f);
    if (f.out != nullptr) all.*f.out = next;
    if (f.in != nullptr) {
      all.*f.in = next;
      for (size_t i = 0; i < count; ++i)
        copy_secret(next + i * bytes, tickets[i]->inputs().records.*f.in, bytes);
    }
    next += rounded_up(count * bytes, 64);
  }
  if (mu_bytes > 0) {
    all.message = Messages::of_mu(next);
    for (size_t i = 0; i < count; ++i)
      copy_secret(next + i * mu_bytes, tickets[i]->inputs().records.message.strings.data, mu_bytes);
  }
  used_ = needed;
  return true;
}

void BatchMemory::copy_out(size_t i, Ticket& to) {
  if (status_[i] == Status::kOk && !to.reserve_outputs()) status_[i] = Status::kOutOfMemory;
  if (status_[i] != Status::kOk) return;
  const BatchView outputs = to.request().records;
  for (const FieldInfo& f : kRecordFields) {
    if (f.out == nullptr || !item_.has(f)) continue;
    const size_t bytes = item_.bytes(f);
    copy_secret(outputs.*f.out, request_.records.*f.out + i * bytes, bytes);
  }
}

bool BatchMemory::equals(size_t i, Ticket& ticket) const {
  const BatchView expected = ticket.request().records;
  if (status_[i] != ticket.poll()) return false;
  if (status_[i] != Status::kOk) return true;
  uint8_t differences = 0;  // of secrets too: the time must not tell where they begin
  for (const FieldInfo& f : kRecordFields) {
    if (f.out == nullptr || !item_.has(f)) continue;
    const size_t bytes = item_.bytes(f);
    const uint8_t *own = request_.records.*f.out + i * bytes, *right = expected.*f.out;
    for (size_t k = 0; k < bytes; ++k)
      differences = static_cast<uint8_t>(differences | (own[k] ^ right[k]));
  }
  const uint32_t different = ct::mask_nonzero(differences);
  ct::declassify(&different, sizeof different);  // where a device is wrong, its results are computed again
  return different == 0;
}

void BatchMemory::zeroize() {
  polykem::zeroize(memory_.data(), used_);
  used_ = 0;
  if (memory_.size() > kKeptBytes) memory_.release();
}

}  // namespace polykem
