// SPDX-License-Identifier: Apache-2.0
#include "net/session.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace polykem::cli::net {
namespace {

/// While an operation runs, the other end may send at most one CONFIRM or ERROR frame in advance.
constexpr std::size_t kMaxAheadBytes = kHeaderBytes + 1 + kMaxErrorTextBytes;

bool is_in_transcript(FrameType type) {
  return type == FrameType::kHello || type == FrameType::kPublicKey || type == FrameType::kCiphertext;
}

bool is_item_error(polykem_status status) {
  return status == POLYKEM_ERR_PUBLIC_KEY || status == POLYKEM_ERR_SECRET_KEY || status == POLYKEM_ERR_CIPHERTEXT;
}

}  // namespace

void Session::on_bytes(ByteView bytes) {
  if (done_ || bytes.empty()) return;
  heard_ = true;
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  drain();
}

/// Processes all whole frames that are allowed now. A refused header ends the session before its payload arrives. A
/// session that has ended keeps no bytes, because thousands may be waiting for the other end to close.
void Session::drain() {
  const Bytes bytes = std::exchange(pending_, {});
  ByteView rest(bytes);
  while (!done_ && !busy_ && !rest.empty()) {
    const ParseResult frame = parse_frame(rest);
    if (const auto outcome = objection(frame)) return fail(*outcome);
    if (frame.status == ParseStatus::kNeedMore) break;
    if (frame.type == FrameType::kError) return on_error_frame(frame.payload);
    greeted_ = true;
    if (is_in_transcript(frame.type)) transcript_.add(rest.first(frame.consumed));
    on_frame(frame.type, frame.payload);
    rest = rest.subspan(frame.consumed);
  }
  if (done_) return;
  if (busy_ && rest.size() > kMaxAheadBytes) return fail(Outcome::kUnexpectedFrame);
  pending_.assign(rest.begin(), rest.end());
}

std::optional<Outcome> Session::objection(const ParseResult& frame) const {
  switch (frame.status) {
    case ParseStatus::kBadMagic:
    case ParseStatus::kBadVersion:
    case ParseStatus::kBadType:
      return Outcome::kGarbage;
    case ParseStatus::kTooLong:
      return Outcome::kOversized;
    case ParseStatus::kNeedMore:
    case ParseStatus::kComplete:
      break;
  }
  if (!frame.header_known) return std::nullopt;
  const auto wanted =
      frame.type == FrameType::kError ? Expected{FrameType::kError, 1, 1 + kMaxErrorTextBytes} : expected();
  if (!wanted || frame.type != wanted->type) return Outcome::kUnexpectedFrame;
  if (frame.length < wanted->min_bytes || frame.length > wanted->max_bytes) return Outcome::kWrongSize;
  return std::nullopt;
}

void Session::on_error_frame(ByteView payload) {
  const auto message = parse_error(payload);
  if (!message) return finish(Outcome::kPeerError, "without a readable reason");
  const auto reason = outcome_from_code(message->code);
  const std::string name = reason ? std::string(outcome_name(*reason)) : fmt::format("unknown code {}", message->code);
  finish(Outcome::kPeerError, fmt::format("{}: {}", name, message->text));
}

void Session::on_disconnect() {
  if (!done_) finish(outcome_of_disconnect());
}

void Session::check_deadline(Clock::time_point oldest) {
  if (done_ || !waiting_since_ || *waiting_since_ > oldest) return;
  const Outcome outcome = outcome_of_timeout();
  if (outcome == Outcome::kAgreed) return finish(outcome);
  fail(outcome);
}

Outcome Session::outcome_of_timeout() const {
  return pending_.empty() ? Outcome::kTimeout : Outcome::kHalfFrame;
}

void Session::send_frame(FrameType type, ByteView payload) {
  if (done_ || host_ == nullptr) return;
  Bytes frame;
  append_frame(frame, type, payload);
  if (is_in_transcript(type)) transcript_.add(frame);
  host_->send(frame);
}

void Session::compute(polykem_op op) {
  if (done_ || host_ == nullptr) return;
  busy_ = true;
  waiting_since_.reset();
  host_->compute(op);
}

void Session::kem_done(polykem_op op, polykem_status status, const KemOutput& out) {
  busy_ = false;
  if (done_) return;
  try {
    if (status != POLYKEM_OK) return fail(is_item_error(status) ? Outcome::kBadKey : Outcome::kInternal);
    on_result(op, out);
    drain();
  } catch (const std::bad_alloc&) {
    finish(Outcome::kInternal);
  }
}

void Session::on_no_memory() {
  if (!done_) finish(Outcome::kInternal);
}

void Session::fail(Outcome outcome) {
  if (done_) return;
  send_frame(FrameType::kError, encode_error(static_cast<std::uint8_t>(outcome), outcome_text(outcome)));
  finish(outcome);
}

void Session::finish(Outcome outcome, const std::string& detail) {
  if (done_) return;
  done_ = true;
  waiting_since_.reset();
  if (host_ == nullptr) return kem_cancel();
  kem_cancel();
  host_->finished(outcome, detail);
}

void Session::derive_tags(ByteView secret) {
  const Tag hash = transcript_.digest();
  client_tag_ = confirm_tag(secret, Side::kClient, hash);
  server_tag_ = confirm_tag(secret, Side::kServer, hash);
}

}  // namespace polykem::cli::net
