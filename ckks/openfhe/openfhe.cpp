// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/openfhe.hpp"

#include <ios>
#include <streambuf>
#include <type_traits>
#include <utility>

#include "ckks/openfhe/binary.hpp"
#include "ckks/openfhe/check.hpp"
#include "ckks/openfhe/json.hpp"
#include "ckks/openfhe/schema.hpp"

namespace polykem::openfhe {
namespace {

/// The binary form begins with the byte order.
constexpr int kMaxOrderByte = 1;

class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::span<const std::uint8_t> bytes) {
    char* begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));  // std::streambuf reads only
    setg(begin, begin, begin + bytes.size());
  }
};

class BytesBuffer final : public std::streambuf {
 public:
  SecretBytes bytes;

 private:
  std::streamsize xsputn(const char* data, std::streamsize count) override {
    bytes.insert(bytes.end(), data, data + count);
    return count;
  }
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) bytes.push_back(static_cast<std::uint8_t>(c));
    return traits_type::not_eof(c);
  }
};

template <class T>
constexpr bool kIsContext = std::is_same_v<T, Context>;

template <class T>
T read_from(Reader& reader) {
  if constexpr (kIsContext<T>) {
    Sharing sharing;
    std::shared_ptr<const Context> context;
    Schema<Reader>(reader, sharing).file(context);
    reader.finish();
    return *context;
  } else {
    T object;
    Schema<Reader>(reader, object.sharing).file(object);
    reader.finish();
    check(object);
    return object;
  }
}

template <class T>
void write_to(Writer& writer, const T& object) {
  if constexpr (kIsContext<T>) {
    const std::shared_ptr<const Context> context(std::shared_ptr<void>(), &object);  // not owned
    Schema<Writer>(writer, Sharing()).file(context);
  } else {
    Schema<Writer>(writer, object.sharing).file(object);
  }
  writer.finish();
}

}  // namespace

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  std::swap(context, other.context);
  std::swap(key_tag, other.key_tag);
  std::swap(s, other.s);
  std::swap(sharing, other.sharing);
  return *this;
}

SecretKey::~SecretKey() {
  for (Tower& tower : s)
    zeroize(tower.values.data(), tower.values.size() * sizeof tower.values[0]);
}

template <class T>
T read(std::istream& in) {
  const int first = in.peek();
  if (first == std::istream::traits_type::eof()) throw FormatError("the file is empty");
  if (first <= kMaxOrderByte) {
    BinaryReader reader(*in.rdbuf());
    return read_from<T>(reader);
  }
  JsonReader reader(in);
  return read_from<T>(reader);
}

template <class T>
T read(std::span<const std::uint8_t> bytes) {
  ViewBuffer buffer(bytes);
  std::istream in(&buffer);
  return read<T>(in);
}

template <class T>
void write(std::ostream& out, const T& object, Form form) {
  check(object);
  if (form == Form::kBinary) {
    BinaryWriter writer(out);
    write_to(writer, object);
  } else {
    JsonWriter writer(out);
    write_to(writer, object);
  }
}

template <class T>
SecretBytes write(const T& object, Form form) {
  BytesBuffer buffer;
  std::ostream out(&buffer);
  write(out, object, form);
  return std::move(buffer.bytes);
}

#define POLYKEM_OPENFHE_OBJECT(T)                        \
  template T read<T>(std::istream&);                     \
  template T read<T>(std::span<const std::uint8_t>);     \
  template void write<T>(std::ostream&, const T&, Form); \
  template SecretBytes write<T>(const T&, Form);

POLYKEM_OPENFHE_OBJECT(Context)
POLYKEM_OPENFHE_OBJECT(PublicKey)
POLYKEM_OPENFHE_OBJECT(SecretKey)
POLYKEM_OPENFHE_OBJECT(Ciphertext)
POLYKEM_OPENFHE_OBJECT(RelinearisationKeys)
POLYKEM_OPENFHE_OBJECT(AutomorphismKeys)

}  // namespace polykem::openfhe
