// SPDX-License-Identifier: Apache-2.0
// Computes products in the NTT domain and their sums, one word a cycle in each lane. Key generation computes A s column
// by column. Encapsulation computes A y row by row, with the products of t y between those of row 0; decapsulation
// computes s u first. The last sum of a row also goes to the finished rows. In both memories, row i has slot i and s u
// slot 0; t y uses slot 2 and must be read before row 2's last sum is written. v of a ciphertext waits in slot 2 of the
// finished rows until s u is subtracted.
module product_unit
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Lanes = 1,
  parameter reduce_e     Method = ReduceTable
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,
  input  logic         stop_i,
  input  logic         zeroize_i,
  input  logic [7:0]   zeroize_address_i,
  input  task_t        task_i,
  input  counts_t      counts_i,
  // entries of A as they are sampled; they become first factors
  input  logic         matrix_valid_i,
  output logic         matrix_pop_o,
  // first and second factors: a word, or two words from an even address on, comes a cycle after its address
  output logic         first_is_matrix_o,
  output logic [7:0]   first_address_o,  // used unless first_is_matrix_o
  input  coeff_t [Lanes-1:0][3:0] first_i,
  output logic [7:0]   second_address_o,
  input  coeff_t [Lanes-1:0][3:0] second_i,
  // v of a ciphertext, which comes while there are no sums
  input  logic         v_we_i,
  input  logic [5:0]   v_index_i,
  input  coeff_t [Lanes-1:0][3:0] v_i,
  // finished rows
  output logic         row_we_o,
  output logic [7:0]   row_address_o,
  output coeff_t [Lanes-1:0][3:0] row_o,
  output logic [4:0]   count_o,
  output logic         takes_first_o,  // first_i is used in this cycle
  output logic         alert_o         // an upset bit was found
);
  typedef enum logic [2:0] {
    ProductSecret,  // s u
    ProductMatrix,
    ProductKey,     // t y
    ProductRaw,     // CommandPwm; for CommandIntt the first factor times 1
    ProductEnd
  } kind_e;
  typedef struct packed {
    kind_e      kind;
    logic [1:0] outer, inner;
  } cursor_t;

  logic keygen, decaps;
  logic [1:0] top;
  assign keygen = task_i.command == CommandKeygen;
  assign decaps = task_i.command == CommandDecaps;
  assign top    = 2'(task_i.k - 3'd1);

  (* fsm_encoding = "none" *) cursor_t cursor_q;
  cursor_t cursor_next, cursor_first;
  logic    kind_parity_q;
  always_comb begin
    cursor_first = '{kind: ProductEnd, outer: '0, inner: '0};
    unique case (task_i.command)
      CommandKeygen, CommandEncaps: cursor_first.kind = ProductMatrix;
      CommandDecaps:                cursor_first.kind = ProductSecret;
      CommandIntt, CommandPwm:      cursor_first.kind = ProductRaw;
      default: ;
    endcase
    cursor_next = cursor_q;
    unique case (cursor_q.kind)
      ProductSecret: begin
        if (cursor_q.inner != top) cursor_next.inner = cursor_q.inner + 2'd1;
        else cursor_next = '{kind: ProductMatrix, outer: '0, inner: '0};
      end
      ProductMatrix: begin
        if (!keygen && cursor_q.outer == 0) cursor_next.kind = ProductKey;
        else if (cursor_q.inner != top) cursor_next.inner = cursor_q.inner + 2'd1;
        else if (cursor_q.outer != top) cursor_next = '{kind: ProductMatrix, outer: cursor_q.outer + 2'd1, inner: '0};
        else cursor_next.kind = ProductEnd;
      end
      ProductKey: begin
        if (cursor_q.inner != top) cursor_next = '{kind: ProductMatrix, outer: '0, inner: cursor_q.inner + 2'd1};
        else cursor_next = '{kind: ProductMatrix, outer: 2'd1, inner: '0};
      end
      default: cursor_next.kind = ProductEnd;
    endcase
  end

  // The counts that a product waits for.
  logic [4:0] k, column, first_y, first_t;
  logic ends_row_2;
  logic may_run;
  logic [1:0] vector_slot;  // slot of the second factor
  assign k           = {2'd0, task_i.k};
  assign vector_slot = keygen ? cursor_q.outer : cursor_q.inner;
  assign column      = {3'd0, vector_slot};
  assign first_y     = decaps ? k + 5'd1 : '0;          // number of transforms before those of y
  assign first_t     = decaps ? {1'd0, task_i.k, 1'd0} + 5'd1 : '0;
  assign ends_row_2  = !keygen && cursor_q.outer == 2'd2 && cursor_q.inner == top;
  always_comb begin
    unique case (cursor_q.kind)
      ProductSecret: may_run = counts_i.transforms > column && counts_i.decoded > k + 5'd1 + column;
      ProductMatrix: may_run = counts_i.transforms > first_y + (ends_row_2 ? k + 5'd1 : column) && matrix_valid_i;
      ProductKey:    may_run = counts_i.transforms > first_y + column && counts_i.decoded > first_t + column;
      ProductRaw:    may_run = counts_i.decoded > (task_i.command == CommandPwm ? 5'd1 : 5'd0);
      default:       may_run = 1'b0;
    endcase
  end

  localparam logic [5:0] LastIndex = 6'(64 - Lanes);
  logic [5:0] index_q;
  logic [1:0] row;
  logic       is_last;
  assign row     = cursor_q.kind == ProductKey ? 2'd2 : keygen ? cursor_q.inner : cursor_q.outer;
  assign is_last = cursor_q.kind == ProductRaw || (keygen ? cursor_q.outer == top : cursor_q.inner == top);
  assign matrix_pop_o     = may_run && cursor_q.kind == ProductMatrix;
  assign first_is_matrix_o = cursor_q.kind == ProductMatrix;
  assign first_address_o  = {cursor_q.inner, index_q};
  assign second_address_o = {vector_slot, index_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cursor_q <= '{kind: ProductEnd, outer: '0, inner: '0};
      kind_parity_q <= ^ProductEnd;
      index_q  <= '0;
    end else if (start_i || stop_i) begin
      cursor_q <= cursor_first;
      if (stop_i) cursor_q.kind <= ProductEnd;
      kind_parity_q <= stop_i ? ^ProductEnd : ^cursor_first.kind;
      index_q  <= '0;
    end else if (may_run) begin
      index_q <= index_q + 6'(Lanes);
      if (index_q == LastIndex) {kind_parity_q, cursor_q} <= {^cursor_next.kind, cursor_next};
    end
  end

  assign alert_o = ^{kind_parity_q, cursor_q.kind};

  // The operands come a cycle after their addresses. place_q is delayed with them up to their sum.
  typedef struct packed {
    logic       valid;
    logic       is_last;
    logic [1:0] row;
    logic [5:0] index;
  } place_t;
  place_t place_q, late;
  assign takes_first_o = place_q.valid;
  logic   begins_q, one_q;
  coeff_t [Lanes-1:0][3:0] accumulator, result;
  always_ff @(posedge clk_i) begin
    place_q      <= '{valid: may_run, is_last: is_last, row: row, index: index_q};
    begins_q     <= keygen ? cursor_q.outer == 0 : cursor_q.inner == 0;
    one_q        <= task_i.command == CommandIntt;
  end
  for (genvar n = 0; n < Lanes; n++) begin : gen_mac
    word_mac #(.Method(Method)) u_mac (
      .clk_i, .valid_i(place_q.valid), .begins_i(begins_q), .one_i(one_q), .index_i(place_q.index | 6'(n)),
      .accumulator_i(accumulator[n]), .a_i(first_i[n]), .b_i(second_i[n]), .result_o(result[n])
    );
  end
  delay_line #(.Width(9), .Cycles(10)) u_place (
    .clk_i, .data_i(place_q[8:0]), .data_o(late[8:0])
  );
  logic [9:0] valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                valid_q <= '0;
    else if (start_i || stop_i) valid_q <= '0;
    else                        valid_q <= {valid_q[8:0], place_q.valid};
  end
  assign late.valid = valid_q[9];

  assign row_we_o      = (late.valid && late.is_last) || v_we_i || zeroize_i;
  assign row_address_o = zeroize_i ? zeroize_address_i : v_we_i ? {2'd2, v_index_i} : {late.row, late.index};
  assign row_o         = zeroize_i ? '0 : v_we_i ? v_i : result;
  logic [Lanes-1:0] unchecked;
  word_ram #(.WriteWords(Lanes), .ReadWords(Lanes)) u_sums (
    .clk_i, .we_i({2{late.valid || zeroize_i}}), .waddr_i(row_address_o), .wdata_i(row_o), .erase_i(1'b0),
    .raddr_i({row, index_q}), .rdata_o(accumulator), .intact_o(unchecked)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                                count_o <= '0;
    else if (start_i || stop_i)                 count_o <= '0;
    else if (late.valid && late.index == LastIndex) count_o <= count_o + 5'd1;
  end
endmodule
