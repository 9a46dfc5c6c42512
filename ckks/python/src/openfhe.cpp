// SPDX-License-Identifier: Apache-2.0
// Files of OpenFHE: what was read stays an object of ckks/openfhe until a context is there to make a batch or a key
// of it.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <string>
#include <utility>

#include "ckks/openfhe/file.hpp"
#include "ckks/openfhe/handles.hpp"
#include "ckks/openfhe/openfhe.hpp"
#include "ckks/python/src/ckks_binding.hpp"

namespace polykem::python {
namespace {

using namespace nb::literals;
using openfhe::Form;
using Numbers = std::vector<std::uint64_t>;

struct FileContext {
  std::shared_ptr<const openfhe::Context> value;
};

template <class T>
struct FileObject {
  T value;
  FileContext context() const { return {value.context}; }
  const std::string& key_tag() const { return value.key_tag; }
};
using FileCiphertext = FileObject<openfhe::Ciphertext>;
using FilePublicKey = FileObject<openfhe::PublicKey>;
using FileSecretKey = FileObject<openfhe::SecretKey>;

/// Relinearisation keys for s^2, or automorphism keys.
struct FileKeys {
  struct Entry {
    std::string tag;
    std::uint64_t g;  ///< 0: relinearisation
    openfhe::SwitchingKey key;
  };
  std::vector<Entry> entries;
};

[[noreturn]] void raise(const char* name, const std::string& text) {
  PyErr_SetString(nb::module_::import_("polykem.ckks._errors").attr(name).ptr(), text.c_str());
  throw nb::python_error();
}

/// work() without the GIL; what is wrong with a file becomes an exception.
template <class Work>
auto guarded(const Work& work) {
  std::string text;
  bool disk = false;
  try {
    const WithoutGil no_gil;
    return work();
  } catch (const openfhe::FormatError& error) {
    text = error.what();
  } catch (const std::ios_base::failure& error) {
    disk = true;
    text = error.what();
  }
  if (!disk) raise("FormatError", text);
  PyErr_SetString(PyExc_OSError, text.c_str());
  throw nb::python_error();
}

/// `source` is a memoryview of bytes, or the path of a file as a string.
template <class T>
T read(nb::handle source) {
  if (!nb::isinstance<nb::str>(source)) {
    const Bytes bytes(source, "source", nb::len(source), false);
    return guarded([&] { return openfhe::read<T>(std::span(bytes.data(), bytes.size())); });
  }
  const auto* const path = nb::cast<const char*>(source);
  return guarded([&] {
    openfhe::InFile in(path, std::ios::binary);
    if (!in) throw std::ios_base::failure("the file cannot be opened");
    return openfhe::read<T>(in);
  });
}

template <class T>
void write(const T& object, const char* path, bool json) {
  guarded([&] {
    openfhe::OutFile out(path, std::ios::binary | std::ios::trunc);
    openfhe::write(out, object, json ? Form::kJson : Form::kBinary);
    out.close();
    if (!out) throw std::ios_base::failure("the file could not be written");
  });
}

std::vector<openfhe::Modulus> moduli(const Numbers& values, const Numbers& roots) {
  std::vector<openfhe::Modulus> out;
  for (std::size_t i = 0; i < std::min(values.size(), roots.size()); ++i)
    out.push_back({values[i], roots[i]});
  return out;
}

template <class Member>
auto each(Member member) {
  return [member](const FileContext& context) {
    Numbers out;
    for (const openfhe::Modulus& q : context.value->moduli)
      out.push_back(q.*member);
    return out;
  };
}

FileContext new_context(std::uint32_t n, const NumberList& q_list, const NumberList& root_list, std::uint32_t digits,
                        std::uint32_t scaling_bits, int scaling, std::uint32_t composite_degree,
                        std::uint32_t auxiliary_bits) {
  const Numbers q = numbers(q_list), roots = numbers(root_list);
  openfhe::Context context;
  context.ring_dimension = n;
  context.moduli = moduli(q, roots);
  context.batch_size = n / 2;
  context.scaling_bits = scaling_bits;
  context.digits = digits;
  context.scaling = static_cast<openfhe::ScalingTechnique>(scaling);
  context.composite_degree = composite_degree;
  context.register_bits = composite_degree > 1 ? 32 : 64;
  context.auxiliary_bits = auxiliary_bits;
  context.depth = static_cast<std::uint32_t>(q.size() / composite_degree - 1);
  return {std::make_shared<const openfhe::Context>(std::move(context))};
}

FileKeys relinearisation_keys(nb::handle source) {
  auto read_keys = read<openfhe::RelinearisationKeys>(source);
  FileKeys out;
  for (auto& [tag, keys] : read_keys.keys)
    if (!keys.empty()) out.entries.push_back({tag, 0, std::move(keys[0])});
  return out;
}

FileKeys automorphism_keys(nb::handle source) {
  auto read_keys = read<openfhe::AutomorphismKeys>(source);
  FileKeys out;
  for (auto& [tag, keys] : read_keys.keys)
    for (auto& [g, key] : keys)
      out.entries.push_back({tag, g, std::move(key)});
  return out;
}

/// Special primes and their roots: what a key has beyond its context's.
std::pair<Numbers, Numbers> special(const FileKeys& keys, std::size_t index) {
  std::pair<Numbers, Numbers> out;
  for (const openfhe::Modulus& p : openfhe::special_moduli(keys.entries.at(index).key)) {
    out.first.push_back(p.value);
    out.second.push_back(p.root);
  }
  return out;
}

/// An object of a file for a context, which must be the file's.
template <class Handle, class From>
Owned<Handle> make(const From& from, const CkksContext& context) {
  Handle* handle = nullptr;
  check_ckks(guarded([&] { return openfhe::make(from, context.get(), &handle); }));
  return Owned<Handle>(handle);
}

CkksSwitchingKey make_key(const FileKeys& keys, std::size_t index, const CkksContext& context) {
  return make<polykem_ckks_switching_key>(keys.entries.at(index).key, context);
}

CkksCiphertexts make_ciphertexts(const FileCiphertext& file, const CkksContext& context) {
  return make<polykem_ckks_ciphertexts>(file.value, context);
}

CkksPublicKey make_public_key(const FilePublicKey& file, const CkksContext& context) {
  return make<polykem_ckks_public_key>(file.value, context);
}

CkksSecretKey make_secret_key(const FileSecretKey& file, const CkksContext& context) {
  return make<polykem_ckks_secret_key>(file.value, context);
}

/// The words of an object in main memory; `get` is polykem_ckks_..._words.
template <class Handle>
openfhe::Words words_of(const Owned<Handle>& object, const std::uint64_t* (*get)(const Handle*, std::size_t*)) {
  openfhe::Words words{};
  words.at = get(object.get(), &words.left);
  return words;
}

/// A polynomial over all of `moduli`.
openfhe::Polynomial take(openfhe::Words& words, const openfhe::Context& context,
                         const std::vector<openfhe::Modulus>& moduli) {
  return openfhe::take_polynomial(words, context.ring_dimension, moduli, moduli.size());
}

void write_ciphertext(const FileContext& context, const CkksCiphertexts& ciphertexts, std::size_t item, const char* tag,
                      std::uint32_t degree, double scale, const char* path, bool json) {
  const polykem_ckks_shape shape = shape_of(ciphertexts);
  const std::uint32_t n = context.value->ring_dimension;
  const std::size_t total = context.value->moduli.size(), words_of_item = shape.parts * shape.limbs * n;
  openfhe::Words words = words_of(ciphertexts, &polykem_ckks_ciphertexts_words);
  if (shape.limbs > total || item >= shape.count || words.left != shape.count * words_of_item)
    refuse_ckks("the ciphertext belongs to another parameter set");
  words = {words.at + item * words_of_item, words_of_item};
  openfhe::Ciphertext out;
  out.context = context.value;
  out.key_tag = tag;
  for (std::size_t part = 0; part < shape.parts; ++part)
    out.parts.push_back(openfhe::take_polynomial(words, n, context.value->moduli, shape.limbs));
  out.slots = static_cast<std::uint32_t>(shape.slots);
  out.level = static_cast<std::uint32_t>(total - shape.limbs);
  out.noise_degree = degree;
  out.scale = scale;
  write(out, path, json);
}

void write_public_key(const FileContext& context, const CkksPublicKey& key, const char* tag, const char* path,
                      bool json) {
  openfhe::Words words = words_of(key, &polykem_ckks_public_key_words);
  openfhe::PublicKey out;
  out.context = context.value;
  out.key_tag = tag;
  for (std::size_t part = 0; part < 2; ++part)
    out.h.push_back(take(words, *context.value, context.value->moduli));
  write(out, path, json);
}

void write_secret_key(const FileContext& context, const CkksSecretKey& key, const char* tag, const char* path,
                      bool json) {
  openfhe::SecretKey out;
  out.context = context.value;
  out.key_tag = tag;
  openfhe::Words words = words_of(key, &polykem_ckks_secret_key_words);
  out.s = take(words, *context.value, context.value->moduli);
  write(out, path, json);
}

/// The contents of a file of switching keys other than the keys.
struct KeyFile {
  FileContext context;
  std::vector<openfhe::Modulus> moduli;
  std::size_t digits;
  std::string tag;

  openfhe::SwitchingKey key(const CkksSwitchingKey& from) const {
    openfhe::Words words = words_of(from, &polykem_ckks_switching_key_words);
    openfhe::SwitchingKey out{context.value, tag, {}, {}};
    for (std::size_t digit = 0; digit < digits; ++digit) {
      for (auto* const half : {&out.b, &out.a})
        half->push_back(take(words, *context.value, moduli));
    }
    return out;
  }
};

KeyFile key_file(const FileContext& context, const NumberList& p, const NumberList& p_roots, std::size_t digits,
                 const char* tag) {
  KeyFile out{context, context.value->moduli, digits, tag};
  for (const openfhe::Modulus& modulus : moduli(numbers(p), numbers(p_roots)))
    out.moduli.push_back(modulus);
  return out;
}

void write_relinearisation_key(const KeyFile& file, const CkksSwitchingKey& key, const char* path, bool json) {
  openfhe::RelinearisationKeys out;
  out.keys[file.tag].push_back(file.key(key));
  write(out, path, json);
}

using KeysByElement = nb::typed<nb::sequence, nb::typed<nb::tuple, nb::int_, CkksSwitchingKey>>;

void write_automorphism_keys(const KeyFile& file, const KeysByElement& keys, const char* path, bool json) {
  openfhe::AutomorphismKeys out;
  for (const nb::handle pair : keys)
    out.keys[file.tag].emplace(nb::cast<std::uint32_t>(pair[0]), file.key(nb::cast<const CkksSwitchingKey&>(pair[1])));
  write(out, path, json);
}

bool has_sparse_secrets(const FileContext& context) {
  const openfhe::SecretDistribution secrets = context.value->secret_distribution;
  return secrets == openfhe::SecretDistribution::kSparseTernary ||
         secrets == openfhe::SecretDistribution::kSparseEncapsulated;
}

void bind_file_context(nb::module_& m) {
  using Of = const FileContext&;
  nb::class_<FileContext>(m, "OpenfheContext")
      .def_prop_ro("log_n", [](Of c) { return std::countr_zero(c.value->ring_dimension); })
      .def_prop_ro("q", each(&openfhe::Modulus::value))
      .def_prop_ro("q_roots", each(&openfhe::Modulus::root))
      .def_prop_ro("digits", [](Of c) { return c.value->digits; })
      .def_prop_ro("hybrid", [](Of c) { return c.value->key_switch == openfhe::KeySwitchTechnique::kHybrid; })
      .def_prop_ro("auxiliary_bits", [](Of c) { return c.value->auxiliary_bits; })
      .def_prop_ro("composite_degree", [](Of c) { return c.value->composite_degree; })
      .def_prop_ro("scaling_bits", [](Of c) { return c.value->scaling_bits; })
      .def_prop_ro("scaling", [](Of c) { return static_cast<int>(c.value->scaling); })
      .def_prop_ro("sparse", &has_sparse_secrets)
      .def_prop_ro("gaussian",
                   [](Of c) { return c.value->secret_distribution == openfhe::SecretDistribution::kGaussian; })
      .def_prop_ro("noise_deviation", [](Of c) { return c.value->noise_deviation; });
  m.def("openfhe_context", &new_context, "n"_a, "q"_a, "q_roots"_a, "digits"_a, "scaling_bits"_a, "scaling"_a,
        "composite_degree"_a, "auxiliary_bits"_a);
  m.def(
      "openfhe_read_context",
      [](nb::handle source) {
        return FileContext{std::make_shared<const openfhe::Context>(read<openfhe::Context>(source))};
      },
      "source"_a);
  m.def(
      "openfhe_write_context", [](Of c, const char* path, bool json) { write(*c.value, path, json); }, "context"_a,
      "path"_a, "json"_a);
}

template <class T>
nb::class_<FileObject<T>> bind_file_object(nb::module_& m, const char* name) {
  return nb::class_<FileObject<T>>(m, name)
      .def_prop_ro("context", &FileObject<T>::context)
      .def_prop_ro("key_tag", &FileObject<T>::key_tag);
}

void bind_reading(nb::module_& m) {
  bind_file_object<openfhe::Ciphertext>(m, "OpenfheCiphertext")
      .def_prop_ro("noise_degree", [](const FileCiphertext& c) { return c.value.noise_degree; })
      .def("make", &make_ciphertexts, "context"_a);
  bind_file_object<openfhe::PublicKey>(m, "OpenfhePublicKey").def("make", &make_public_key, "context"_a);
  bind_file_object<openfhe::SecretKey>(m, "OpenfheSecretKey").def("make", &make_secret_key, "context"_a);
  nb::class_<FileKeys>(m, "OpenfheKeys")
      .def_prop_ro("entries",
                   [](const FileKeys& keys) {
                     std::vector<std::pair<std::string, std::uint64_t>> out;
                     for (const FileKeys::Entry& entry : keys.entries)
                       out.emplace_back(entry.tag, entry.g);
                     return out;
                   })
      .def("context", [](const FileKeys& keys, std::size_t i) { return FileContext{keys.entries.at(i).key.context}; })
      .def("special", &special, "index"_a)
      .def("make", &make_key, "index"_a, "context"_a);
  m.def("openfhe_read_ciphertext", [](nb::handle s) { return FileCiphertext{read<openfhe::Ciphertext>(s)}; });
  m.def("openfhe_read_public_key", [](nb::handle s) { return FilePublicKey{read<openfhe::PublicKey>(s)}; });
  m.def("openfhe_read_secret_key", [](nb::handle s) { return FileSecretKey{read<openfhe::SecretKey>(s)}; });
  m.def("openfhe_read_relinearisation_keys", &relinearisation_keys, "source"_a);
  m.def("openfhe_read_automorphism_keys", &automorphism_keys, "source"_a);
}

void bind_writing(nb::module_& m) {
  m.def("openfhe_write_ciphertext", &write_ciphertext, "context"_a, "ciphertexts"_a, "item"_a, "key_tag"_a,
        "noise_degree"_a, "scale"_a, "path"_a, "json"_a);
  m.def("openfhe_write_public_key", &write_public_key, "context"_a, "key"_a, "key_tag"_a, "path"_a, "json"_a);
  m.def("openfhe_write_secret_key", &write_secret_key, "context"_a, "key"_a, "key_tag"_a, "path"_a, "json"_a);
  nb::class_<KeyFile>(m, "OpenfheKeyFile");
  m.def("openfhe_key_file", &key_file, "context"_a, "p"_a, "p_roots"_a, "digits"_a, "key_tag"_a);
  m.def("openfhe_write_relinearisation_key", &write_relinearisation_key, "file"_a, "key"_a, "path"_a, "json"_a);
  m.def("openfhe_write_automorphism_keys", &write_automorphism_keys, "file"_a, "keys"_a, "path"_a, "json"_a);
}

}  // namespace

void bind_openfhe(nb::module_& m) {
  bind_file_context(m);
  bind_reading(m);
  bind_writing(m);
}

}  // namespace polykem::python
