// SPDX-License-Identifier: Apache-2.0
// Constants and types of the whole core.
package polykem_hw_pkg;

  // A module that is tested alone need not use all of them.
  // verilator lint_off UNUSEDPARAM
  parameter int unsigned Q = 3329;       // [FIPS203, section 2.4]
  parameter int unsigned Zeta = 17;      // a primitive 256th root of unity modulo Q
  parameter int unsigned CoeffBits = 12;
  // verilator lint_on UNUSEDPARAM

  typedef logic [CoeffBits-1:0] coeff_t;  // 0 .. Q-1 unless a comment says otherwise
  typedef logic signed [CoeffBits-1:0] centred_t;  // -(Q-1)/2 .. (Q-1)/2

  // Returns whether value >= Q = 1101 0000 0001b, in three LUTs.
  function automatic logic reaches_q(logic [CoeffBits:0] value);
    return value[12] || (value[11] && value[10] && (value[9] || (value[8] && |value[7:0])));
  endfunction

  typedef enum logic {
    TransformNtt,
    TransformIntt
  } transform_e;

  // How products are reduced modulo Q.
  typedef enum logic {
    ReduceFold,  // repeatedly, by 2^12 = 2^9 + 2^8 - 1 (mod Q)
    ReduceTable  // by tables of 32 residues
  } reduce_e;

  // The bits of a coefficient in a record: compressed, or all twelve.
  typedef enum logic [2:0] {
    Width1,
    Width4,
    Width5,
    Width10,
    Width11,
    Width12
  } width_e;

  function automatic logic [3:0] bits_of(width_e width);
    unique case (width)
      Width1:  return 4'd1;
      Width4:  return 4'd4;
      Width5:  return 4'd5;
      Width10: return 4'd10;
      Width11: return 4'd11;
      default: return 4'd12;
    endcase
  endfunction

  // The rate of the sponge, and how many lanes of 64 bits its block has.
  typedef enum logic [1:0] {
    RateSha3_512,  // 9
    RateSha3_256,  // 17, also SHAKE256
    RateShake128   // 21
  } keccak_rate_e;

  function automatic logic [4:0] last_lane(keccak_rate_e rate);
    unique case (rate)
      RateSha3_512: return 5'd8;
      RateSha3_256: return 5'd16;
      default:      return 5'd20;
    endcase
  endfunction

  function automatic int unsigned power(int unsigned base, int unsigned exponent);
    int unsigned result = 1;
    for (int unsigned i = 0; i < exponent; i++) result = (result * base) % Q;
    return result;
  endfunction

  function automatic int unsigned bit_reverse(int unsigned value, int unsigned bits);
    int unsigned result = 0;
    for (int unsigned i = 0; i < bits; i++) result |= ((value >> i) & 1) << (bits - 1 - i);
    return result;
  endfunction

  typedef enum logic [2:0] {
    CommandNone,
    CommandKeygen,  // d, z -> dk, which contains ek
    CommandEncaps,  // m, ek -> ciphertext, shared secret
    CommandDecaps,  // ciphertext, dk -> shared secret
    CommandNtt,     // a polynomial, with 12 bits for each coefficient
    CommandIntt,
    CommandPwm,     // a, b -> a b in the NTT domain
    CommandShake    // words -> words; any function of FIPS 202 with one of the rates above
  } command_e;

  // The command that the core runs. It does not change while the core is busy.
  typedef struct packed {
    command_e     command;
    logic         kyber;  // Kyber of round 3 instead of ML-KEM
    logic [2:0]   k;      // 2 .. 4
    // of CommandShake
    keccak_rate_e rate;
    logic         xof;        // SHAKE's padding instead of SHA3's
    logic [7:0]   in_words;   // of 64 bits
    logic [7:0]   out_words;  // 1 or more
  } task_t;

  // How many polynomials each unit has finished since the command began. Other units wait for these counts.
  typedef struct packed {
    logic [4:0] decoded;  // by the input unit
    logic [4:0] noise;    // by the hash unit
    logic [4:0] products; // by the product unit
    logic [4:0] transforms;
  } counts_t;

  // Slots of the scratch memory: places of four words of 64 bits.
  typedef enum logic [2:0] {
    SlotM,    // the message
    SlotH,    // H(ek)
    SlotZ,
    SlotK,    // the shared secret
    SlotJ,    // the rejection secret; Kyber: H(c)
    SlotRho,
    SlotSigma // sigma or r; at first d
  } slot_e;

  // The parts of a command's input.
  typedef enum logic [3:0] {
    InD, InM, InU, InV, InS, InT, InRho, InH, InZ, InA, InB, InMessage, InEnd
  } in_section_e;

  // The memory to which a decoded polynomial goes.
  typedef enum logic [1:0] {
    PolyW,  // normal domain
    PolyT,  // NTT domain, first factors
    PolyY,  // NTT domain, second factors
    PolyV   // v of a ciphertext
  } poly_e;

endpackage
