// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/json_tree.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ckks/openfhe/error.hpp"

namespace polykem::openfhe {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 64;
/// The largest number of nodes other than integers in lists. A tower has 14, so this allows more residues than most
/// machines can hold.
constexpr std::size_t kMaxNodes = std::size_t{1} << 20;
constexpr std::size_t kMaxFields = 32;
constexpr std::size_t kMaxWords = std::size_t{1} << 17;
constexpr std::size_t kMaxTextBytes = 256;

constexpr const char* kNames[] = {"BTSlotsEncoding",
                                  "ab",
                                  "addc",
                                  "ak",
                                  "am",
                                  "aq",
                                  "bk",
                                  "bm",
                                  "br",
                                  "bru",
                                  "bs",
                                  "cc",
                                  "ccl",
                                  "cd",
                                  "cdt",
                                  "cereal_class_version",
                                  "cm",
                                  "co",
                                  "corFactor",
                                  "d",
                                  "data",
                                  "dim1_Dec",
                                  "dim1_Enc",
                                  "dnm",
                                  "dnum",
                                  "dp",
                                  "e",
                                  "eb",
                                  "elp",
                                  "enabled",
                                  "encs",
                                  "enp",
                                  "exm",
                                  "f",
                                  "fdp",
                                  "fhe",
                                  "g",
                                  "h",
                                  "id",
                                  "key",
                                  "ks",
                                  "kswc",
                                  "kt",
                                  "l",
                                  "lDec",
                                  "lEnc",
                                  "m",
                                  "md",
                                  "mmo",
                                  "mo",
                                  "muld",
                                  "muls",
                                  "nest",
                                  "ns",
                                  "p",
                                  "paramMap",
                                  "phops",
                                  "pmo",
                                  "polymorphic_id",
                                  "polymorphic_name",
                                  "ptr_wrapper",
                                  "rd",
                                  "rs",
                                  "ru",
                                  "rw",
                                  "rws",
                                  "s",
                                  "schswitch",
                                  "si",
                                  "sl",
                                  "slots",
                                  "slv",
                                  "ss",
                                  "t",
                                  "tp",
                                  "v",
                                  "valid",
                                  "value",
                                  "value0"};

/// A field of switching keys in OpenFHE 1.2 and 1.3.
constexpr std::string_view kOldField = "k";

const char* known_name(std::string_view name) {
  for (const char* known : kNames) {
    if (name == known) return known;
  }
  if (name == kOldField) throw FormatError("the JSON has a field 'k': " + std::string(kTooOld));
  throw FormatError("the JSON has a field '" + std::string(name.substr(0, kMaxTextBytes)) +
                    "', which OpenFHE 1.6.1 does not write for CKKS");
}

/// Takes the parser's events.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { throw FormatError("the JSON has a null"); }
  bool boolean(bool value) override { return add({value}); }
  bool number_integer(number_integer_t) override { throw FormatError("the JSON has a negative number"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t&) override { return add({value}); }
  bool string(string_t& value) override;
  bool binary(binary_t&) override { throw FormatError("the JSON has bytes"); }
  bool start_object(std::size_t) override { return descend({JsonFields()}); }
  bool key(string_t& name) override;
  bool end_object() override { return ascend(); }
  bool start_array(std::size_t) override { return descend({JsonList()}); }
  bool end_array() override;
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& e) override;

  JsonFields take();

 private:
  bool add(JsonNode node);
  bool descend(JsonNode node);
  bool ascend();
  JsonNode& place(JsonNode node);

  JsonNode root_;
  bool have_root_ = false;
  std::vector<JsonNode*> open_;
  std::size_t nodes_ = 0;
  JsonWords words_;  ///< the integers of the list that is open
};

/// Adds the node to its parent.
JsonNode& Builder::place(JsonNode node) {
  if (++nodes_ > kMaxNodes) throw FormatError("the JSON has too many parts");
  if (open_.empty()) {
    have_root_ = true;
    return root_ = std::move(node);
  }
  if (!words_.empty()) throw FormatError("the JSON has a list of integers and something else");
  if (auto* fields = std::get_if<JsonFields>(&open_.back()->value)) {
    return fields->back().node = std::move(node);
  }
  return std::get<JsonList>(open_.back()->value).emplace_back(std::move(node));
}

bool Builder::add(JsonNode node) {
  place(std::move(node));
  return true;
}

bool Builder::number_unsigned(number_unsigned_t value) {
  const auto* list = open_.empty() ? nullptr : std::get_if<JsonList>(&open_.back()->value);
  if (list == nullptr || !list->empty()) return add({std::uint64_t{value}});
  if (words_.size() >= kMaxWords) throw FormatError("the JSON has a list that is too long");
  words_.push_back(value);
  return true;
}

bool Builder::string(string_t& value) {
  if (value.size() > kMaxTextBytes) throw FormatError("the JSON has a text that is too long");
  return add({std::move(value)});
}

bool Builder::key(string_t& name) {
  auto& fields = std::get<JsonFields>(open_.back()->value);
  if (fields.size() >= kMaxFields) throw FormatError("the JSON has an object with too many fields");
  fields.push_back({known_name(name), false, {}});
  return true;
}

bool Builder::descend(JsonNode node) {
  if (open_.size() >= kMaxDepth) throw FormatError("the JSON nests too deep");
  open_.push_back(&place(std::move(node)));
  return true;
}

bool Builder::ascend() {
  open_.pop_back();
  return true;
}

bool Builder::end_array() {
  if (!words_.empty()) {
    open_.back()->value = JsonWords(words_.begin(), words_.end());
    words_.clear();
  }
  return ascend();
}

bool Builder::parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) {
  throw FormatError("not valid JSON at byte " + std::to_string(byte));
}

JsonFields Builder::take() {
  auto* fields = have_root_ ? std::get_if<JsonFields>(&root_.value) : nullptr;
  if (fields == nullptr) throw FormatError("the JSON is not an object");
  return std::move(*fields);
}

}  // namespace

JsonFields read_json(std::istream& in) {
  Builder builder;
  Json::sax_parse(in, &builder);
  return builder.take();
}

}  // namespace polykem::openfhe
