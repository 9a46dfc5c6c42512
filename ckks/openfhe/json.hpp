// SPDX-License-Identifier: Apache-2.0
// The JSON form, as cereal arranges it.
#pragma once

#include <istream>

#include "ckks/openfhe/json_tree.hpp"
#include "ckks/openfhe/reader.hpp"
#include "ckks/openfhe/writer.hpp"

namespace polykem::openfhe {

class JsonReader final : public Reader {
 public:
  /// Reads the whole text.
  explicit JsonReader(std::istream& in);

  void flag(const char* name, bool& value) override;
  void text(const char* name, std::string& value) override;
  void words(const char* name, std::vector<std::uint64_t>& values, std::size_t max_count) override;
  void finish() override { leave(); }

 private:
  /// An open object or list, and the next element of a list.
  struct Open {
    JsonFields* fields = nullptr;
    JsonList* list = nullptr;
    std::size_t next = 0;
  };

  void enter(const char* name) override;
  void leave() override;
  std::size_t enter_list(const char* name) override;
  void leave_list() override;
  std::uint64_t integer(const char* name, std::size_t bytes) override;
  double real(const char* name, std::size_t bytes) override;

  JsonNode& node(const char* name);
  template <class T>
  T& value(const char* name, const char* what);

  JsonFields root_;
  JsonList no_elements_;
  std::vector<Open> open_;
};

class JsonWriter final : public Writer {
 public:
  explicit JsonWriter(std::ostream& out);

  void open(const char* name) override;
  void close() override;
  void open_list(const char* name, std::size_t count) override;
  void close_list() override;
  void flag(const char* name, bool value) override;
  void text(const char* name, const std::string& value) override;
  void words(const char* name, const std::vector<std::uint64_t>& values) override;
  void finish() override;

 private:
  void integer(const char* name, std::uint64_t value, std::size_t bytes) override;
  void real(const char* name, double value, std::size_t bytes) override;

  void begin(const char* name, char bracket);
  void end(char bracket);
  /// Begins a field or an element: writes a comma, a line end and the name.
  void item(const char* name);
  void line();

  std::vector<bool> filled_;  ///< for each open object or list, whether it has contents
};

}  // namespace polykem::openfhe
