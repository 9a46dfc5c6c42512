// SPDX-License-Identifier: Apache-2.0
// The contents of files in order, for reading and for writing. OpenFHE leaves their form to cereal:
//  - A class with versions states its version where it first occurs ("cereal_class_version").
//  - A pointer has a number ("id"): if its object follows, a new number with the highest bit set; later the same number
//    without that bit.
//  - A pointer to a base class also states the object's class: the declared one, or a number and the class's name, and
//    later only the number.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ckks/openfhe/check.hpp"
#include "ckks/openfhe/error.hpp"
#include "ckks/openfhe/objects.hpp"
#include "ckks/openfhe/pointers.hpp"
#include "ckks/openfhe/reader.hpp"
#include "ckks/openfhe/writer.hpp"

namespace polykem::openfhe {

/// Classes that have versions. Crypto contexts and ciphertexts have version 1, all others 0.
enum class Class : std::size_t {
  kCryptoContext,
  kParametersCkks,
  kParametersRns,
  kParametersRlwe,
  kParametersBase,
  kChain,
  kChainBase,
  kBigInteger,
  kModulus,
  kModulusBase,
  kInteger,
  kEncoding,
  kScheme,
  kSchemeRns,
  kSchemeBase,
  kCryptoObject,
  kKey,
  kPublicKey,
  kSecretKey,
  kCiphertext,
  kPolynomial,
  kTower,
  kVector,
  kSwitchingKey,
  kRelinearisationKey,
  kCount
};

/// The product of the moduli: 64 bits in a word, the lowest first.
std::vector<std::uint64_t> product(const Moduli& moduli);
std::uint32_t bits_of(const std::vector<std::uint64_t>& number);

/// Throws unless `name` is `wanted`; the message says if it belongs to another scheme.
void demand_class(Reader& reader, const std::string& name, const std::string& wanted);

template <class Archive>
class Schema {
 public:
  static constexpr bool kReading = Archive::kReading;
  template <class T>
  using Ref = std::conditional_t<kReading, T&, const T&>;

  Schema(Archive& archive, Ref<Sharing> sharing) : ar_(archive), sharing_(sharing), pointers_(sharing) {}

  void file(Ref<std::shared_ptr<const Context>> context) { context_pointer("value0", context); }

  void file(Ref<PublicKey> key) {
    pointer("value0", {}, [&] {
      version(Class::kPublicKey);
      ar_.open("value0");
      this->key(key);
      ar_.close();
      list("h", key.h, 2, [&](auto& part) { polynomial(nullptr, part); });
    });
  }

  void file(Ref<SecretKey> key) {
    pointer("value0", {}, [&] {
      version(Class::kSecretKey);
      ar_.open("value0");
      this->key(key);
      ar_.close();
      polynomial("s", key.s);
    });
  }

  void file(Ref<Ciphertext> ciphertext) {
    pointer("value0", {}, [&] { this->ciphertext(ciphertext); });
  }

  void file(Ref<RelinearisationKeys> keys) {
    map("value0", keys.keys, kMaxKeyTags,
        [&](auto& of_tag) { list("value", of_tag, kMaxKeysOfTag, [&](auto& key) { switching_key(nullptr, key); }); });
  }

  void file(Ref<AutomorphismKeys> keys) {
    map("value0", keys.keys, kMaxKeyTags, [&](auto& of_tag) {
      ar_.open("value");
      pointer_wrapper([&] { map("data", of_tag, kMaxDimension, [&](auto& key) { switching_key("value", key); }); });
      ar_.close();
    });
  }

 private:
  static constexpr std::uint32_t kSameClass = std::uint32_t{1} << 30;
  static constexpr std::uint32_t kNewClass = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kCkks = 1;
  static constexpr std::uint32_t kCkksPackedEncoding = 4;
  static constexpr std::uint32_t kEvaluationForm = 0;
  static constexpr std::size_t kMaxBootstrappings = 32;

  // Parts of every file

  /// A number with only one allowed value.
  template <class T>
  void constant(const char* name, T wanted, const char* otherwise) {
    T value = wanted;
    ar_.number(name, value);
    if constexpr (kReading) {
      if (value != wanted) ar_.fail_at(name, "is " + std::to_string(value) + ": " + otherwise);
    }
  }

  void version(Class which) {
    bool& seen = seen_[static_cast<std::size_t>(which)];
    if (seen) return;
    seen = true;
    const bool first = which == Class::kCryptoContext || which == Class::kCiphertext;
    constant<std::uint32_t>("cereal_class_version", first ? 1 : 0,
                            "OpenFHE 1.5 and 1.6 write another version of this class: make the file with one of them");
  }

  template <class Items, class Element>
  void list(const char* name, Items& items, std::size_t max_count, Element element) {
    if constexpr (kReading) {
      const std::size_t count = ar_.open_list(name, max_count);
      for (std::size_t i = 0; i < count; ++i)
        element(items.emplace_back());
    } else {
      ar_.open_list(name, items.size());
      for (auto& item : items)
        element(item);
    }
    ar_.close_list();
  }

  void map_key(std::string& key) { ar_.text("key", key); }
  void map_key(const std::string& key) { ar_.text("key", key); }
  void map_key(std::uint32_t& key) { ar_.number("key", key); }
  void map_key(const std::uint32_t& key) { ar_.number("key", key); }

  template <class Items, class Value>
  void map(const char* name, Items& items, std::size_t max_count, Value value) {
    if constexpr (kReading) {
      const std::size_t count = ar_.open_list(name, max_count);
      for (std::size_t i = 0; i < count; ++i) {
        ar_.open(nullptr);
        typename Items::key_type key{};
        map_key(key);
        if (items.contains(key)) ar_.fail_at("key", "is there for the second time");
        value(items[key]);
        ar_.close();
      }
    } else {
      ar_.open_list(name, items.size());
      for (auto& [key, item] : items) {
        ar_.open(nullptr);
        map_key(key);
        value(item);
        ar_.close();
      }
    }
    ar_.close_list();
  }

  /// Reads or writes the class of a pointer's object: an object without a name is of the declared class.
  void class_of_object(const std::string& wanted) {
    bool present = true;
    class_of_object(wanted, present);
    if constexpr (kReading) {
      if (!present) ar_.fail("is a null pointer");
    }
  }

  /// The same for a pointer that may be null.
  void class_of_object(const std::string& wanted, bool& present) {
    const auto known = std::find(classes_.begin(), classes_.end(), wanted);
    const bool is_new = !wanted.empty() && known == classes_.end();
    std::uint32_t expected = kSameClass;
    if (!wanted.empty()) expected = static_cast<std::uint32_t>(known - classes_.begin()) + 1;
    if (is_new) expected |= kNewClass;
    std::uint32_t id = present ? expected : 0;
    ar_.number("polymorphic_id", id);
    present = id != 0;
    if (!present) return;
    std::string name = wanted;  // NOLINT(performance-unnecessary-copy-initialization): reading changes it
    if ((id & kNewClass) != 0) ar_.text("polymorphic_name", name);
    if constexpr (kReading) {
      demand_class(ar_, name, wanted);
      if (id != expected)
        ar_.fail_at("polymorphic_id", "is not that of the class which belongs there; " + std::string(kTooOld));
    }
    if (is_new) classes_.push_back(wanted);
  }

  /// A pointer to an object to which nothing else points. `body` handles its field "data".
  template <class Body>
  void pointer_wrapper(Body body) {
    ar_.open("ptr_wrapper");
    std::uint32_t number = 0;
    if constexpr (!kReading) number = pointers_.next();
    ar_.number("id", number);
    if constexpr (kReading) pointers_.add(ar_, number);
    body();
    ar_.close();
  }

  template <class Body>
  void pointer(const char* name, const std::string& class_name, Body body) {
    ar_.open(name);
    class_of_object(class_name);
    pointer_wrapper([&] {
      ar_.open("data");
      body();
      ar_.close();
    });
    ar_.close();
  }

  /// A pointer to an object that may be shared. When reading, body() makes a new object.
  template <class T, class Body>
  void shared_pointer(const char* name, T& object, Body body) {
    ar_.open(name);
    class_of_object({});
    ar_.open("ptr_wrapper");
    std::uint32_t number = 0;
    if constexpr (!kReading) number = pointers_.number_of(object);
    ar_.number("id", number);
    const bool is_new = (number & kNewPointer) != 0;
    if constexpr (kReading) {
      if (is_new) number = pointers_.add(ar_, number);
      if constexpr (!std::is_same_v<T, std::shared_ptr<const Context>>) sharing_.labels.push_back(number);
    }
    if (is_new) {
      ar_.open("data");
      body();
      ar_.close();
    }
    if constexpr (kReading) {
      if (is_new) pointers_.set(number, object);
      object = pointers_.template get<T>(ar_, number);
    }
    ar_.close();
    ar_.close();
  }

  // Numbers

  void words(const char* name, Ref<std::vector<std::uint64_t>> values, std::size_t max_count) {
    if constexpr (kReading) {
      ar_.words(name, values, max_count);
    } else {
      ar_.words(name, values);
    }
  }

  /// A small integer that is 0 here.
  void zero(const char* name, Class which = Class::kInteger) {
    ar_.open(name);
    version(which);
    constant<std::uint64_t>("v", 0, "only 0 occurs there in files for CKKS");
    ar_.close();
  }

  void integer(const char* name, Ref<std::uint64_t> value) {
    ar_.open(name);
    version(Class::kInteger);
    ar_.number("v", value);
    ar_.close();
  }

  void big_integer(const char* name, Ref<std::vector<std::uint64_t>> value) {
    ar_.open(name);
    version(Class::kBigInteger);
    words("v", value, kMaxModuli * 2);
    std::uint32_t bits = bits_of(value);
    const std::uint32_t expected = bits;
    ar_.number("m", bits);
    if constexpr (kReading) {
      if (bits != expected) ar_.fail_at("m", "is not the number of bits");
    }
    ar_.close();
  }

  void big_zero(const char* name) {
    std::vector<std::uint64_t> value = {0};
    big_integer(name, value);
    if constexpr (kReading) {
      if (value != std::vector<std::uint64_t>{0}) ar_.fail_at(name, "is not 0");
    }
  }

  // Moduli

  void dimensions() {
    std::uint32_t order = 2 * dimension_;
    std::uint32_t dimension = dimension_;
    ar_.number("co", order);
    ar_.number("rd", dimension);
    if constexpr (kReading) {
      if (dimension_ == 0) {
        if (!is_ring_dimension(dimension)) ar_.fail_at("rd", "is not a power of two from 4 to 2^17");
        dimension_ = dimension;
      }
      if (dimension != dimension_) ar_.fail_at("rd", "is not the ring dimension of the crypto context");
      if (order != 2 * dimension) ar_.fail_at("co", "is not twice the ring dimension");
    }
  }

  void modulus(const char* name, Ref<Modulus> q) {
    shared_pointer(name, q, [&] {
      version(Class::kModulus);
      ar_.open("value0");
      version(Class::kModulusBase);
      dimensions();
      integer("cm", q.value);
      integer("ru", q.root);
      zero("bm");
      zero("br");
      ar_.close();
    });
  }

  void chain(const char* name, Ref<Moduli> moduli) {
    shared_pointer(name, moduli, [&] {
      version(Class::kChain);
      ar_.open("value0");
      version(Class::kChainBase);
      dimensions();
      std::vector<std::uint64_t> whole;
      if constexpr (!kReading) whole = product(moduli);
      big_integer("cm", whole);
      big_zero("ru");
      big_zero("bm");
      big_zero("br");
      ar_.close();
      list("p", moduli, 2 * kMaxModuli, [&](auto& q) { modulus(nullptr, q); });
      if constexpr (kReading) {
        if (whole != product(moduli)) ar_.fail("has another product than its moduli");
      }
    });
  }

  // Crypto context

  void context_pointer(const char* name, Ref<std::shared_ptr<const Context>> context) {
    shared_pointer(name, context, [&] {
      if constexpr (kReading) {
        auto made = std::make_shared<Context>();
        this->context(*made);
        check(*made);
        context = std::move(made);
      } else {
        this->context(*context);
      }
    });
    dimension_ = context->ring_dimension;
  }

  void context(Ref<Context> c) {
    dimension_ = c.ring_dimension;
    version(Class::kCryptoContext);
    pointer("cc", "lbcrypto::CryptoParametersCKKSRNS", [&] { parameters(c); });
    pointer("kt", "lbcrypto::SchemeCKKSRNS", [&] { scheme(c); });
    constant("si", kCkks, "the scheme is not CKKS");
    if constexpr (kReading) c.ring_dimension = dimension_;
  }

  void parameters(Ref<Context> c) {
    version(Class::kParametersCkks);
    ar_.open("value0");
    version(Class::kParametersRns);
    ar_.open("value0");
    version(Class::kParametersRlwe);
    ar_.open("value0");
    version(Class::kParametersBase);
    chain("elp", c.moduli);
    pointer("enp", {}, [&] { encoding(c); });
    ar_.close();
    noise_parameters(c);
    ar_.close();
    residue_parameters(c);
    ar_.close();
  }

  void encoding(Ref<Context> c) {
    version(Class::kEncoding);
    std::uint64_t scaling_bits = c.scaling_bits;
    ar_.number("m", scaling_bits);
    if constexpr (kReading) {
      if (scaling_bits > 128) ar_.fail_at("m", "is more than 128 bits");
      c.scaling_bits = static_cast<std::uint32_t>(scaling_bits);
    }
    zero("ru");
    zero("bm");
    zero("bru");
    constant<std::uint32_t>("g", 0, "only 0 occurs there in files for CKKS");
    ar_.number("bs", c.batch_size);
  }

  void noise_parameters(Ref<Context> c) {
    ar_.number("dp", c.noise_deviation);
    ar_.number("am", c.assurance);
    ar_.number("ns", c.noise_scale);
    ar_.number("rw", c.digit_bits);
    ar_.number("nest", c.noise_estimate);
    ar_.number("muld", c.depth);
    ar_.number("addc", c.additions);
    ar_.number("kswc", c.key_switches);
    ar_.number("phops", c.re_encryptions);
    ar_.number("md", c.max_secret_power);
    ar_.number("mo", c.secret_distribution);
    ar_.number("pmo", c.re_encryption_mode);
    ar_.number("mmo", c.multiparty_mode);
    ar_.number("exm", c.execution_mode);
    ar_.number("dnm", c.decryption_mode);
    ar_.number("slv", c.security_level);
    ar_.number("fdp", c.flooding_deviation);
    ar_.number("ss", c.statistical_security);
    ar_.number("aq", c.adversarial_queries);
    ar_.number("tp", c.parties);
  }

  void residue_parameters(Ref<Context> c) {
    ar_.number("ks", c.key_switch);
    ar_.number("rs", c.scaling);
    ar_.number("encs", c.encryption_technique);
    ar_.number("muls", c.product_technique);
    ar_.number("dnum", c.digits);
    ar_.number("ab", c.auxiliary_bits);
    ar_.number("eb", c.extra_bits);
    ar_.number("ccl", c.compression_level);
    ar_.number("cd", c.composite_degree);
    ar_.number("rws", c.register_bits);
    ar_.number("cdt", c.data_type);
  }

  void scheme(Ref<Context> c) {
    version(Class::kScheme);
    ar_.open("value0");
    version(Class::kSchemeRns);
    ar_.open("value0");
    version(Class::kSchemeBase);
    bootstrapping(c.bootstrapping);
    ar_.open("schswitch");
    constant<std::uint32_t>("polymorphic_id", 0, "switching between schemes is not supported");
    ar_.close();
    ar_.number("enabled", c.features);
    ar_.close();
    ar_.close();
  }

  /// The pointer that is null in most contexts.
  void bootstrapping(Ref<std::optional<BootstrappingSet>> set) {
    ar_.open("fhe");
    bool present = set.has_value();
    class_of_object("lbcrypto::FHECKKSRNS", present);
    if (present) {
      if constexpr (kReading) set.emplace();
      pointer_wrapper([&] {
        ar_.open("data");
        base_classes();
        map("paramMap", set->by_slots, kMaxBootstrappings, [&](auto& one) { bootstrapping_of(one); });
        ar_.number("corFactor", set->correction_bits);
        ar_.close();
      });
    }
    ar_.close();
  }

  /// Two pointers to objects without members.
  void base_classes() {
    ar_.open("value0");
    ar_.open("value0");
    ar_.close();
    ar_.close();
  }

  void bootstrapping_of(Ref<Bootstrapping> one) {
    pointer("value", {}, [&] {
      ar_.number("dim1_Enc", one.encoding_giant_step);
      ar_.number("dim1_Dec", one.decoding_giant_step);
      ar_.number("slots", one.slots);
      ar_.number("lEnc", one.encoding_levels);
      ar_.number("lDec", one.decoding_levels);
      ar_.flag("BTSlotsEncoding", one.slots_encoding);
    });
  }

  // Keys and ciphertexts

  template <class Object>
  void crypto_object(Object& object) {
    version(Class::kCryptoObject);
    context_pointer("cc", object.context);
    ar_.text("kt", object.key_tag);
  }

  template <class Key>
  void key(Key& key) {
    version(Class::kKey);
    ar_.open("value0");
    crypto_object(key);
    ar_.close();
  }

  void tower(Ref<Tower> t) {
    ar_.open(nullptr);
    version(Class::kTower);
    ar_.open("v");
    class_of_object({});
    ar_.open("ptr_wrapper");
    constant<std::uint8_t>("valid", 1, "the tower has no residues");
    ar_.open("data");
    version(Class::kVector);
    words("v", t.values, dimension_);
    integer("m", t.modulus);
    ar_.close();
    ar_.close();
    ar_.close();
    form();
    Modulus q = {t.modulus, t.root};
    modulus("p", q);
    if constexpr (kReading) {
      if (q.value != t.modulus) ar_.fail("has two different moduli");
      t.root = q.root;
    }
    ar_.close();
  }

  void form() { constant("f", kEvaluationForm, "polynomials in coefficient form are not supported"); }

  void polynomial(const char* name, Ref<Polynomial> towers) {
    ar_.open(name);
    version(Class::kPolynomial);
    list("v", towers, 2 * kMaxModuli, [&](auto& t) { tower(t); });
    form();
    Moduli moduli;
    if constexpr (!kReading) moduli = moduli_of(towers);
    chain("p", moduli);
    if constexpr (kReading) {
      if (moduli != moduli_of(towers)) ar_.fail_at("p", "has other moduli than the towers");
    }
    ar_.close();
  }

  void ciphertext(Ref<Ciphertext> c) {
    version(Class::kCiphertext);
    ar_.open("value0");
    crypto_object(c);
    ar_.close();
    list("v", c.parts, kMaxParts, [&](auto& part) { polynomial(nullptr, part); });
    ar_.number("sl", c.slots);
    ar_.number("l", c.level);
    ar_.number("t", c.hop_level);
    ar_.number("d", c.noise_degree);
    ar_.number("s", c.scale);
    integer("si", c.integer_scale);
    constant("e", kCkksPackedEncoding, "only packed values of CKKS are supported");
    ar_.open("m");
    pointer_wrapper([&] {
      if constexpr (kReading) {
        if (ar_.open_list("data", kMaxDigits) != 0) ar_.fail("is not empty: notes on a ciphertext are not supported");
      } else {
        ar_.open_list("data", 0);
      }
      ar_.close_list();
    });
    ar_.close();
  }

  void switching_key(const char* name, Ref<SwitchingKey> key) {
    const auto digit = [&](auto& polynomial_of_digit) { polynomial(nullptr, polynomial_of_digit); };
    pointer(name, "lbcrypto::EvalKeyRelinImpl<lbcrypto::DCRTPoly>", [&] {
      version(Class::kRelinearisationKey);
      ar_.open("value0");
      version(Class::kSwitchingKey);
      ar_.open("value0");
      this->key(key);
      ar_.close();
      ar_.close();
      list("ak", key.a, kMaxDigits, digit);
      list("bk", key.b, kMaxDigits, digit);
    });
  }

  Archive& ar_;
  Ref<Sharing> sharing_;
  std::conditional_t<kReading, ReadPointers, WrittenPointers> pointers_;
  std::array<bool, static_cast<std::size_t>(Class::kCount)> seen_{};
  std::vector<std::string> classes_;
  std::uint32_t dimension_ = 0;  ///< ring dimension of the last context; 0 before its first moduli
};

}  // namespace polykem::openfhe
