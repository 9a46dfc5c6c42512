// SPDX-License-Identifier: Apache-2.0
// The jobs of the five units of rtl/control, in order, and what each waits for, written down a second time.
// guards_proof and product_control_proof show that the units follow it, deadlock_proof that units never wait for each
// other in a circle.
package programs_pkg;
  import polykem_hw_pkg::*;

  // The enumerations of the units, in their order.
  typedef enum logic [3:0] {
    HashSeeds, HashMessage, HashKey, HashReject, HashShared, HashNoise, HashMatrix, HashCipher, HashKdf, HashRaw,
    HashEnd
  } hash_e;
  typedef enum logic [2:0] {ProductSecret, ProductMatrix, ProductKey, ProductRaw, ProductEnd} product_e;
  typedef enum logic [3:0] {
    OutS, OutT, OutRho, OutH, OutZ, OutM, OutV, OutU, OutWaiting, OutK, OutNormal, OutRow, OutWords, OutEnd
  } out_e;

  typedef struct packed {
    product_e   kind;
    logic [1:0] outer, inner;
  } product_t;

  function automatic logic is_kem(task_t order);
    return order.command inside {CommandKeygen, CommandEncaps, CommandDecaps} && order.k >= 3'd2 && order.k <= 3'd4;
  endfunction

  function automatic logic [4:0] times(task_t order, logic [4:0] factor);
    return 5'(order.k * factor);
  endfunction

  // The number of transforms before those of y, or of s and e; of polynomials decoded before those of t.
  function automatic logic [4:0] transforms_before(task_t order);
    return order.command == CommandDecaps ? 5'(order.k) + 5'd1 : 5'd0;
  endfunction
  function automatic logic [4:0] decoded_before(task_t order);
    return order.command == CommandDecaps ? times(order, 2) + 5'd1 : 5'd0;
  endfunction

  // ------------------------------------------------------------------ products
  function automatic product_t product_first(task_t order);
    return '{kind: order.command == CommandDecaps ? ProductSecret : ProductMatrix, outer: '0, inner: '0};
  endfunction

  function automatic product_t product_next(task_t order, product_t at);
    logic last_inner = {1'b0, at.inner} == order.k - 3'd1;
    logic last_outer = {1'b0, at.outer} == order.k - 3'd1;
    unique case (at.kind)
      ProductSecret: return last_inner ? '{ProductMatrix, 2'd0, 2'd0} : '{ProductSecret, 2'd0, at.inner + 2'd1};
      ProductMatrix: begin
        if (order.command != CommandKeygen && at.outer == 0) return '{ProductKey, 2'd0, at.inner};
        if (!last_inner) return '{ProductMatrix, at.outer, at.inner + 2'd1};
        return last_outer ? '{ProductEnd, at.outer, at.inner} : '{ProductMatrix, at.outer + 2'd1, 2'd0};
      end
      ProductKey: return last_inner ? '{ProductMatrix, 2'd1, 2'd0} : '{ProductMatrix, 2'd0, at.inner + 2'd1};
      default: return '{ProductEnd, at.outer, at.inner};
    endcase
  endfunction

  // Whether the list contains a cursor.
  function automatic logic product_exists(task_t order, product_t at);
    unique case (at.kind)
      ProductSecret: return order.command == CommandDecaps && at.outer == 0 && {1'b0, at.inner} < order.k;
      ProductMatrix: return {1'b0, at.inner} < order.k && {1'b0, at.outer} < order.k;
      ProductKey:    return order.command != CommandKeygen && at.outer == 0 && {1'b0, at.inner} < order.k;
      default:       return at.kind == ProductEnd;
    endcase
  endfunction

  // The number of products before this one, and of those among them that take an entry of A.
  function automatic logic [4:0] entries_before(task_t order, product_t at);
    unique case (at.kind)
      ProductSecret: return 5'd0;
      ProductMatrix: return times(order, {3'd0, at.outer}) + {3'd0, at.inner};
      ProductKey:    return {3'd0, at.inner} + 5'd1;
      default:       return times(order, {2'd0, order.k});
    endcase
  endfunction
  function automatic logic [4:0] products_before(task_t order, product_t at);
    logic [4:0] secrets = order.command == CommandDecaps ? 5'(order.k) : 5'd0;
    logic [4:0] keys;
    if (order.command == CommandKeygen) keys = 5'd0;
    else if (at.kind == ProductEnd || at.outer != 0) keys = 5'(order.k);
    else keys = {3'd0, at.inner};
    if (at.kind == ProductSecret) return {3'd0, at.inner};
    return secrets + entries_before(order, at) + keys;
  endfunction

  function automatic logic product_guard(task_t order, product_t at, counts_t counts, logic matrix_valid);
    logic keygen = order.command == CommandKeygen;
    logic [4:0] column = {3'd0, keygen ? at.outer : at.inner};
    logic ends_row_2 = !keygen && at.outer == 2'd2 && {1'b0, at.inner} == order.k - 3'd1;  // it takes t y's slot
    unique case (at.kind)
      ProductSecret: return counts.transforms > column && counts.decoded > 5'(order.k) + 5'd1 + column;
      ProductMatrix: return counts.transforms > transforms_before(order) + (ends_row_2 ? 5'(order.k) + 5'd1 : column) &&
                            matrix_valid;
      ProductKey:    return counts.transforms > transforms_before(order) + column &&
                            counts.decoded > decoded_before(order) + column;
      default:       return 1'b0;
    endcase
  endfunction

  // ------------------------------------------------------------------ transforms
  function automatic logic [4:0] transform_jobs(task_t order);
    return order.command == CommandKeygen ? times(order, 2) : transforms_before(order) + times(order, 2) + 5'd1;
  endfunction

  function automatic logic transform_guard(task_t order, logic [4:0] job, counts_t counts);
    logic [4:0] k = 5'(order.k);
    logic [4:0] place = job - transforms_before(order);
    logic [4:0] secrets = order.command == CommandDecaps ? k : 5'd0;
    logic [4:0] row = place - k;  // 0: row 0, 1: t y, 2 and more: the other rows
    if (job >= transform_jobs(order)) return 1'b0;
    if (order.command == CommandKeygen) return counts.noise > job;
    if (order.command == CommandDecaps && job < k) return counts.decoded > job;
    if (order.command == CommandDecaps && job == k) return counts.products >= k;
    if (place < k) return counts.noise > place;
    if (row == 0) return counts.products >= secrets + times(order, 2) - 5'd1;
    return counts.products >= secrets + times(order, row + 5'd1);
  endfunction

  // ------------------------------------------------------------------ output
  function automatic logic out_exists(task_t order, out_e section);
    unique case (section)
      OutS, OutT, OutRho, OutH, OutZ: return order.command == CommandKeygen;
      OutWaiting:                     return order.command == CommandEncaps;
      OutM:                           return order.command == CommandDecaps;
      OutV, OutU, OutK:               return order.command inside {CommandEncaps, CommandDecaps};
      default:                        return section == OutEnd;
    endcase
  endfunction
  // [section]: the part has come in
  function automatic logic out_guard(task_t order, out_e section, logic [1:0] slot, counts_t counts, logic [12:0] have,
                                     logic hash_done, logic compared);
    logic [4:0] k = 5'(order.k);
    logic [4:0] row = {3'd0, slot};
    logic [4:0] back = transforms_before(order) + k;  // transforms before the inverse ones
    unique case (section)
      OutS:   return counts.transforms > row;
      OutT:   return counts.transforms > k + row && counts.products > times(order, k - 5'd1) + row;
      OutRho: return 1'b1;
      OutH:   return hash_done;
      OutZ:   return have[InZ];
      OutM:   return counts.transforms > k;
      OutV:   return counts.transforms > back + 5'd1;
      OutU:   return counts.transforms > back + 5'd1 + row;
      OutWaiting: return 1'b1;
      OutK:   return hash_done && (order.command != CommandDecaps || compared);
      default: return 1'b0;
    endcase
  endfunction

  // ------------------------------------------------------------------ hashing: what a job waits for before it begins
  function automatic logic hash_guard(task_t order, hash_e section, logic [12:0] have, logic message_ready,
                                      logic compared);
    logic decaps = order.command == CommandDecaps;
    unique case (section)
      HashSeeds:   return have[InD];
      HashMessage: return have[InM];
      HashReject:  return order.kyber ? have[InV] : have[InZ];
      HashShared:  return decaps ? message_ready && have[InH] : have[InM];
      HashMatrix:  return order.command == CommandKeygen || have[InRho];
      HashKdf:     return !decaps || (compared && have[InZ]);
      default:     return 1'b1;
    endcase
  endfunction

  function automatic hash_e hash_first(task_t order);
    unique case (order.command)
      CommandKeygen: return HashSeeds;
      CommandEncaps: return order.kyber ? HashMessage : HashKey;
      default:       return order.kyber ? HashReject : HashKey;
    endcase
  endfunction
  // The section after the last job of a section.
  function automatic hash_e hash_next(task_t order, hash_e section);
    unique case (section)
      HashSeeds, HashShared: return HashNoise;
      HashMessage: return HashKey;
      HashKey:     return order.command == CommandKeygen ? HashEnd : HashShared;
      HashReject:  return order.kyber ? HashShared : HashEnd;
      HashNoise:   return HashMatrix;
      HashMatrix: begin
        if (order.command == CommandKeygen) return HashKey;
        if (order.command == CommandEncaps) return order.kyber ? HashCipher : HashEnd;
        return order.kyber ? HashKdf : HashReject;
      end
      HashCipher:  return HashKdf;
      default:     return HashEnd;
    endcase
  endfunction
  // The place of a section in the list; 15 if it is not there.
  function automatic logic [3:0] hash_place(task_t order, hash_e section);
    hash_e at = hash_first(order);
    for (int unsigned i = 0; i < 9; i++) begin
      if (at == section) return 4'(i);
      at = hash_next(order, at);
    end
    return 4'd15;
  endfunction
endpackage
