// SPDX-License-Identifier: Apache-2.0
// The objects that OpenFHE 1.6.1 writes for CKKS in residue number systems, as plain data. Names in quotes are those of
// its JSON. Polynomials have N = ring_dimension coefficients modulo X^N + 1.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace polykem::openfhe {

/// A prime q, odd, less than 2^62, 1 modulo 2N, and a root: a primitive 2N-th root of unity modulo q.
struct Modulus {
  std::uint64_t value = 0;
  std::uint64_t root = 0;
  bool operator==(const Modulus&) const = default;
};

/// A polynomial modulo one prime, in evaluation form: values[i] = a(root^(2 bitrev(i) + 1)) mod modulus, where bitrev
/// reverses log2(N) bits. N values, each less than the modulus.
struct Tower {
  std::uint64_t modulus = 0;
  std::uint64_t root = 0;
  std::vector<std::uint64_t> values;
  bool operator==(const Tower&) const = default;
};

/// One tower for each prime, in the order of Context::moduli.
using Polynomial = std::vector<Tower>;

enum class ScalingTechnique : std::uint32_t {
  kFixedManual = 0,
  kFixedAuto = 1,
  kFlexibleAuto = 2,
  kFlexibleAutoExt = 3,
  kCompositeAuto = 4,
  kCompositeManual = 5,
  kNone = 6
};
enum class KeySwitchTechnique : std::uint32_t { kBv = 1, kHybrid = 2 };
enum class SecretDistribution : std::uint32_t {
  kGaussian = 0,
  kUniformTernary = 1,
  kSparseTernary = 2,
  kSparseEncapsulated = 3
};
enum class DataType : std::uint32_t { kReal = 0, kComplex = 1 };
/// The scheme's features that were enabled; Context::features is their sum.
enum Feature : std::uint32_t {
  kFeatureEncryption = 1,
  kFeatureKeySwitch = 2,
  kFeatureProxyReEncryption = 4,
  kFeatureLevelled = 8,
  kFeatureAdvanced = 16,
  kFeatureMultiparty = 32,
  kFeatureBootstrapping = 64,
  kFeatureSchemeSwitch = 128
};

/// Bootstrapping that was set up for one number of slots.
struct Bootstrapping {
  std::uint32_t encoding_giant_step = 0;  ///< "dim1_Enc"
  std::uint32_t decoding_giant_step = 0;  ///< "dim1_Dec"
  std::uint32_t slots = 0;                ///< "slots"
  std::uint32_t encoding_levels = 0;      ///< "lEnc"
  std::uint32_t decoding_levels = 0;      ///< "lDec"
  bool slots_encoding = false;            ///< "BTSlotsEncoding"
  bool operator==(const Bootstrapping&) const = default;
};

/// Present in a context with kFeatureBootstrapping.
struct BootstrappingSet {
  std::map<std::uint32_t, Bootstrapping> by_slots;  ///< "paramMap"
  std::uint32_t correction_bits = 0;                ///< "corFactor"
  bool operator==(const BootstrappingSet&) const = default;
};

/// The parameters of a crypto context. The second half is kept so that the context can be written again; a new context
/// may leave it at its defaults, which are those of OpenFHE.
struct Context {
  std::uint32_t ring_dimension = 0;  ///< "rd": N, a power of two, 4 to 2^17; "co" is 2N
  std::vector<Modulus> moduli;       ///< "p": q_0, ..., q_L, all different; a rescaling drops the last
  std::uint32_t batch_size = 0;      ///< "bs": values in a plaintext, at most N/2; 0 if it was left open
  std::uint32_t scaling_bits = 0;    ///< "enp"."m": log2 of the scale of a fresh ciphertext, about
  ScalingTechnique scaling = ScalingTechnique::kFixedManual;                     ///< "rs"
  KeySwitchTechnique key_switch = KeySwitchTechnique::kHybrid;                   ///< "ks"
  SecretDistribution secret_distribution = SecretDistribution::kUniformTernary;  ///< "mo"
  float noise_deviation = 3.19F;       ///< "dp": standard deviation of the errors
  std::uint32_t digits = 1;            ///< "dnum": digits of a polynomial in hybrid key switching
  std::uint32_t auxiliary_bits = 60;   ///< "ab": bits of a prime of P
  std::uint32_t extra_bits = 0;        ///< "eb": bits of the scale of the additional prime of kFlexibleAutoExt
  std::uint32_t composite_degree = 1;  ///< "cd": primes of one level
  std::uint32_t register_bits = 64;    ///< "rws": the words for whose size primes were chosen in composite scaling
  std::uint32_t depth = 0;             ///< "muld": products in a row for which the moduli were chosen
  std::uint32_t features = kFeatureEncryption | kFeatureKeySwitch | kFeatureLevelled;  ///< "enabled"
  DataType data_type = DataType::kReal;                                                ///< "cdt"

  float assurance = 36.0F;                        ///< "am"
  std::uint64_t noise_scale = 1;                  ///< "ns"
  std::uint32_t digit_bits = 0;                   ///< "rw": bits of a digit in key switching of the kind kBv
  double noise_estimate = 0;                      ///< "nest"
  std::uint32_t additions = 0;                    ///< "addc"
  std::uint32_t key_switches = 0;                 ///< "kswc"
  std::uint32_t re_encryptions = 0;               ///< "phops"
  std::uint32_t max_secret_power = 2;             ///< "md": relinearisation keys are for s^2 to s^max_secret_power
  std::uint32_t re_encryption_mode = 0;           ///< "pmo"
  std::uint32_t multiparty_mode = 1;              ///< "mmo"
  std::uint32_t execution_mode = 0;               ///< "exm"
  std::uint32_t decryption_mode = 0;              ///< "dnm"
  std::uint32_t security_level = 6;               ///< "slv"; 6: N was not chosen by a security level
  double flooding_deviation = 0;                  ///< "fdp"
  double statistical_security = 30;               ///< "ss", bits
  double adversarial_queries = 1;                 ///< "aq"
  std::uint32_t parties = 1;                      ///< "tp"
  std::uint32_t encryption_technique = 0;         ///< "encs"
  std::uint32_t product_technique = 1;            ///< "muls"
  std::uint32_t compression_level = 3;            ///< "ccl"
  std::optional<BootstrappingSet> bootstrapping;  ///< "fhe"
  bool operator==(const Context&) const = default;
};

/// Identifies the descriptions of moduli in a file that are one object: the numbers that OpenFHE gave them, in order.
/// It says nothing about values. If it is kept, an unchanged object is written as the bytes from which it was read. If
/// it is empty or no longer fits, the writer shares all that is equal.
struct Sharing {
  std::vector<std::uint32_t> labels;
};

/// All of them have a context; objects of one file may share it. key_tag names the secret key.
struct PublicKey {
  std::shared_ptr<const Context> context;
  std::string key_tag;        ///< "kt"
  std::vector<Polynomial> h;  ///< b = e - a s, a; over all moduli
  Sharing sharing;
};

struct SecretKey {
  std::shared_ptr<const Context> context;
  std::string key_tag;
  Polynomial s;  ///< over all moduli; zeroized at the end
  Sharing sharing;

  SecretKey() = default;
  SecretKey(SecretKey&&) = default;
  SecretKey& operator=(SecretKey&& other) noexcept;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey();
};

struct Ciphertext {
  std::shared_ptr<const Context> context;
  std::string key_tag;
  std::vector<Polynomial> parts;    ///< "v": 2 or 3, each over the first moduli of the context, one or more
  std::uint32_t slots = 0;          ///< "sl": values in it, a power of two, at most N/2
  std::uint32_t level = 0;          ///< "l": how many primes the operations dropped; with some scaling techniques fewer
                                    ///<                                         are dropped than operations asked for
  std::uint32_t hop_level = 0;      ///< "t": re-encryptions since the encryption
  std::uint32_t noise_degree = 1;   ///< "d": scales that were multiplied without a rescaling
  double scale = 0;                 ///< "s": the values times this are what is encrypted; positive, finite
  std::uint64_t integer_scale = 1;  ///< "si" of the ciphertext, which other schemes use
  Sharing sharing;
};

/// A key that switches from one secret to another. In hybrid key switching a and b have a polynomial for each digit,
/// over the context's moduli and then those of P, which the context does not list; in the kind kBv over the context's
/// only.
struct SwitchingKey {
  std::shared_ptr<const Context> context;
  std::string key_tag;
  std::vector<Polynomial> a;  ///< "ak": uniform
  std::vector<Polynomial> b;  ///< "bk"
};

/// Keys of one tag have equal contexts and moduli; those of different tags need not.
struct RelinearisationKeys {
  std::map<std::string, std::vector<SwitchingKey>> keys;  ///< by key tag; [i] is for s^(i + 2)
  Sharing sharing;
};

struct AutomorphismKeys {
  using ByIndex = std::map<std::uint32_t, SwitchingKey>;  ///< by k of X -> X^k: odd, less than 2N
  std::map<std::string, ByIndex> keys;                    ///< by key tag
  Sharing sharing;
};

}  // namespace polykem::openfhe
