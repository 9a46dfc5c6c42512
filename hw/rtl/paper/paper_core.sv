// SPDX-License-Identifier: Apache-2.0
// The CPA-secure part of Kyber, divided as in a published core: the host hashes and samples; the core transforms,
// multiplies, adds, and converts the message to coefficients and back. hw/README.md says where the design comes from.
//
// All memories are on an AXI4-Lite port of 32 bits. While STATUS.busy is set, it reaches only the control registers.
//   0x00000  CMD, write: 1 key generation, 2 encryption, 3 decryption, 4 NTT of S, 5 INTT of T. STATUS, read: bit 0
//            busy
//   0x00004  K: 2, 3, 4
//   0x00008  CYCLES that the last command took
//   0x00020  the message, eight words
//   0x04000  A: polynomial (i, j) of the matrix at slot 4 i + j; in row 4 t^ (encryption) or s^ (decryption)
//   0x08000  S: s, r or u, then their NTT
//   0x0c000  E: e; e1, then e2; or v in slot k
//   0x10000  T: t^; u, then v
// A polynomial is a slot of 128 words; a word has two coefficients, bits 11:0 and 27:16.
module paper_core
  import polykem_hw_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        awvalid_i,
  output logic        awready_o,
  input  logic [16:0] awaddr_i,
  input  logic        wvalid_i,
  output logic        wready_o,
  input  logic [31:0] wdata_i,
  output logic        bvalid_o,
  input  logic        bready_i,
  output logic [1:0]  bresp_o,
  input  logic        arvalid_i,
  output logic        arready_o,
  input  logic [16:0] araddr_i,
  output logic        rvalid_o,
  input  logic        rready_i,
  output logic [31:0] rdata_o,
  output logic [1:0]  rresp_o
);
  typedef enum logic [2:0] {BankControl, BankA, BankS, BankE, BankT} bank_e;
  typedef enum logic [2:0] {StIdle, StTransformS, StTransformE, StProduct, StTransformT, StFinish} state_e;
  typedef enum logic [2:0] {CmdNone, CmdKeygen, CmdEncrypt, CmdDecrypt, CmdNtt, CmdIntt} cmd_e;

  state_e state_q, state_d;
  cmd_e   cmd_q;
  logic [2:0]  k_q;
  logic [15:0] cycles_q;
  logic        busy;
  assign busy = state_q != StIdle;

  // ------------------------------------------------------------------ the bus
  logic  write, read_q, read;
  bank_e write_bank, read_bank, read_bank_q;
  assign write      = awvalid_i && wvalid_i && (!bvalid_o || bready_i);
  assign awready_o  = write;
  assign wready_o   = write;
  assign read       = arvalid_i && !read_q && !rvalid_o;
  assign arready_o  = read;
  assign bresp_o    = '0;
  assign rresp_o    = '0;
  assign write_bank = bank_e'(awaddr_i[16:14]);
  assign read_bank  = bank_e'(araddr_i[16:14]);

  logic command;
  assign command = write && write_bank == BankControl && awaddr_i[5:2] == 4'd0 && !busy &&
                   wdata_i[2:0] >= CmdKeygen && wdata_i[2:0] <= CmdIntt;

  logic unused;
  assign unused = ^{awaddr_i[1:0], araddr_i[1:0]};  // words only

  // ------------------------------------------------------------------ the order of the phases
  logic phase_done, idle_q;  // idle_q: the phase begins with this cycle
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StTransformS:
        if (phase_done) begin
          if (cmd_q == CmdNtt)         state_d = StIdle;
          else if (cmd_q == CmdKeygen) state_d = StTransformE;
          else                         state_d = StProduct;
        end
      StTransformE: if (phase_done) state_d = StProduct;
      StProduct:    if (phase_done) state_d = cmd_q == CmdKeygen ? StIdle : StTransformT;
      StTransformT: if (phase_done) state_d = cmd_q == CmdIntt ? StIdle : StFinish;
      StFinish:     if (phase_done) state_d = StIdle;
      default:      if (command) state_d = wdata_i[2:0] == CmdIntt ? StTransformT : StTransformS;
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      cmd_q    <= CmdNone;
      k_q      <= 3'd2;
      cycles_q <= '0;
      idle_q   <= 1'b1;
    end else begin
      state_q <= state_d;
      idle_q  <= state_d == StIdle || state_d != state_q;
      if (command) begin
        cmd_q    <= cmd_e'(wdata_i[2:0]);
        cycles_q <= '0;
      end else if (busy) begin
        cycles_q <= cycles_q + 16'd1;
      end
      if (write && write_bank == BankControl && awaddr_i[5:2] == 4'd1 && !busy && wdata_i[2:0] >= 2 &&
          wdata_i[2:0] <= 4)
        k_q <= wdata_i[2:0];
    end
  end

  // The rows of T that are computed: k in key generation, k + 1 in encryption, only the last one in decryption.
  logic [2:0] first_row, last_row, last_column;
  assign first_row   = cmd_q == CmdDecrypt ? k_q : '0;
  assign last_column = k_q - 3'd1;
  assign last_row    = cmd_q == CmdKeygen ? last_column : k_q;

  // ------------------------------------------------------------------ what is read: row, column and place
  logic       reads_q;  // this phase still reads
  logic [2:0] row_q, column_q;
  logic [7:0] place_q;  // index of the coefficient in a transform, of the pair elsewhere
  logic       is_transform, last_place;
  logic [2:0] transform_first, transform_last;
  assign is_transform    = state_q == StTransformS || state_q == StTransformE || state_q == StTransformT;
  assign transform_first = state_q == StTransformT ? first_row : '0;
  assign transform_last  = state_q == StTransformT ? last_row : last_column;
  assign last_place      = is_transform ? &place_q : &place_q[6:0];

  logic reads;
  logic [2:0] row, column;
  assign reads  = busy && (idle_q || reads_q);
  assign row    = !idle_q ? row_q : is_transform ? transform_first : first_row;
  assign column = idle_q ? '0 : column_q;
  logic [7:0] place;
  assign place = idle_q ? '0 : place_q;
  always_ff @(posedge clk_i) begin
    reads_q  <= reads;
    row_q    <= row;
    column_q <= column;
    place_q  <= place + 8'd1;
    if (last_place && !idle_q) begin
      place_q <= '0;
      if (state_q == StProduct && column != last_column) begin
        column_q <= column + 3'd1;
      end else begin
        column_q <= '0;
        row_q    <= row + 3'd1;
        if (row == (is_transform ? transform_last : last_row)) reads_q <= 1'b0;
      end
    end
  end

  function automatic logic [6:0] reversed(logic [6:0] value);
    return {value[0], value[1], value[2], value[3], value[4], value[5], value[6]};
  endfunction
  logic [9:0] read_at;  // address in S, E, T
  logic [6:0] read_word;
  assign read_word = state_q == StTransformT ? reversed(place[6:0]) : place[6:0];
  assign read_at   = {row, read_word};

  // ------------------------------------------------------------------ memories
  logic [1:0]   write_s, write_e, write_t;
  logic         write_a;
  logic [9:0]   result_at;
  coeff_t [1:0] result, pair_a, pair_s, pair_e, pair_t, bus_pair;
  logic [11:0]  read_a_at;
  assign bus_pair  = {wdata_i[27:16], wdata_i[11:0]};
  assign write_a   = write && write_bank == BankA && !busy;
  assign read_a_at = !busy ? araddr_i[13:2] :
                     row == k_q && cmd_q != CmdKeygen ? {3'd4, column[1:0], place[6:0]} :
                     cmd_q == CmdKeygen ? {1'b0, row[1:0], column[1:0], place[6:0]} :
                                          {1'b0, column[1:0], row[1:0], place[6:0]};
  pair_ram #(.Depth(4096)) u_a (
    .clk_i, .write_i({2{write_a}}), .write_at_i(awaddr_i[13:2]), .pair_i(bus_pair), .read_at_i(read_a_at),
    .pair_o(pair_a)
  );
  logic [1:0] writes;  // enables of the halves of result
  logic [9:0] write_at, bus_read_at;
  coeff_t [1:0] written;
  assign bus_read_at = araddr_i[11:2];
  assign write_at    = busy ? result_at : awaddr_i[11:2];
  assign written     = busy ? result : bus_pair;
  assign write_s     = busy ? (state_q == StTransformS ? writes : '0) : {2{write && write_bank == BankS}};
  assign write_e     = busy ? (state_q == StTransformE ? writes : '0) : {2{write && write_bank == BankE}};
  assign write_t     = !busy ? {2{write && write_bank == BankT}} :
                       state_q == StTransformS || state_q == StTransformE ? '0 : writes;
  pair_ram u_s (
    .clk_i, .write_i(write_s), .write_at_i(write_at), .pair_i(written),
    .read_at_i(!busy ? bus_read_at : state_q == StProduct ? {column, place[6:0]} : read_at), .pair_o(pair_s)
  );
  pair_ram u_e (
    .clk_i, .write_i(write_e), .write_at_i(write_at), .pair_i(written), .read_at_i(busy ? read_at : bus_read_at),
    .pair_o(pair_e)
  );
  pair_ram u_t (
    .clk_i, .write_i(write_t), .write_at_i(write_at), .pair_i(written), .read_at_i(busy ? read_at : bus_read_at),
    .pair_o(pair_t)
  );

  // A cycle later, with the words that were read.
  logic       read_valid_q, frame_q, odd_q, first_column_q;
  logic [2:0] read_row_q;
  logic [6:0] read_place_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) read_valid_q <= 1'b0;
    else         read_valid_q <= reads;
  end
  always_ff @(posedge clk_i) begin
    frame_q        <= reads && is_transform && place[6:0] == '0;
    odd_q          <= place[7];
    first_column_q <= column == '0;
    read_row_q     <= row;
    read_place_q   <= place[6:0];
  end

  // ------------------------------------------------------------------ transforms: one coefficient a cycle
  coeff_t [1:0] transformed_pair;
  coeff_t x, transformed;
  logic   transformed_start;
  always_comb begin
    unique case (state_q)
      StTransformS: transformed_pair = pair_s;
      StTransformE: transformed_pair = pair_e;
      default:      transformed_pair = pair_t;
    endcase
  end
  assign x = transformed_pair[odd_q];
  sdf_ntt u_ntt (
    .clk_i, .rst_ni, .start_i(frame_q), .transform_i(state_q == StTransformT ? TransformIntt : TransformNtt), .x_i(x),
    .start_o(transformed_start), .x_o(transformed)
  );
  logic       drains_q, drains;  // a result leaves
  logic [7:0] out_place_q, out_place;
  logic [2:0] out_row_q, out_row;
  assign drains    = is_transform && (transformed_start || drains_q);
  assign out_place = drains_q ? out_place_q : '0;
  assign out_row   = drains_q ? out_row_q : transform_first;
  always_ff @(posedge clk_i) begin
    drains_q    <= drains && !phase_done;
    out_place_q <= out_place + 8'd1;
    out_row_q   <= &out_place ? out_row + 3'd1 : out_row;
  end

  // ------------------------------------------------------------------ products: one pair a cycle
  localparam int unsigned MacCycles = 10;
  coeff_t [1:0] accumulator, gammas, sums;
  assign accumulator = !first_column_q ? pair_t : cmd_q == CmdKeygen ? pair_e : '0;
  logic [6:0] gamma_place;
  delay_line #(.Width(7), .Cycles(5)) u_gamma_place (.clk_i, .data_i(read_place_q), .data_o(gamma_place));
  gammas u_gammas (.index_i(gamma_place[6:1]), .gammas_o(gammas));
  pair_mac #(.Method(ReduceFold)) u_mac (
    .clk_i, .valid_i(1'b1), .begins_i(1'b0), .one_i(1'b0), .accumulator_i(accumulator), .a_i(pair_a), .b_i(pair_s),
    .gamma_i(gammas[gamma_place[0]]), .result_o(sums)
  );
  logic [9:0] mac_at;
  logic [MacCycles-1:0] mac_valid_q;
  delay_line #(.Width(10), .Cycles(MacCycles)) u_mac_at (
    .clk_i, .data_i({read_row_q, read_place_q}), .data_o(mac_at)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mac_valid_q <= '0;
    else         mac_valid_q <= {mac_valid_q[MacCycles-2:0], read_valid_q && state_q == StProduct};
  end

  // ------------------------------------------------------------------ the end: noise, message in or out
  logic [255:0] message_q;
  coeff_t [1:0] noisy, finished, difference;
  logic [1:0]   bits;  // bits of the message for this pair
  logic         finishes, in_message;
  assign finishes   = state_q == StFinish && read_valid_q;
  assign in_message = finishes && read_row_q == k_q;
  for (genvar i = 0; i < 2; i++) begin : gen_finish
    mod_add u_noise (.a_i(pair_t[i]), .b_i(pair_e[i]), .sum_o(noisy[i]));
    mod_add u_message (
      .a_i(noisy[i]), .b_i(in_message && message_q[i] ? coeff_t'((Q + 1) / 2) : '0), .sum_o(finished[i])
    );
    mod_sub u_difference (.a_i(pair_e[i]), .b_i(pair_t[i]), .difference_o(difference[i]));
    // Compress_1 [FIPS203, 4.7]
    assign bits[i] = difference[i] >= 12'd833 && difference[i] <= 12'd2496;
  end
  always_ff @(posedge clk_i) begin
    if (in_message) message_q <= {cmd_q == CmdDecrypt ? bits : message_q[1:0], message_q[255:2]};
    else if (write && write_bank == BankControl && awaddr_i[5] && !busy)
      message_q[{awaddr_i[4:2], 5'd0}+:32] <= wdata_i;
  end

  // ------------------------------------------------------------------ results
  always_comb begin
    result    = sums;
    result_at = mac_at;
    writes    = {2{mac_valid_q[MacCycles-1]}};
    if (is_transform) begin
      result    = {2{transformed}};
      result_at = {out_row, state_q == StTransformT ? reversed(out_place[6:0]) : out_place[6:0]};
      writes    = {drains && out_place[7], drains && !out_place[7]};
    end else if (state_q == StFinish) begin
      result    = finished;
      result_at = {read_row_q, read_place_q};
      writes    = {2{finishes && cmd_q == CmdEncrypt}};
    end
    unique case (state_q)
      StProduct: phase_done = mac_valid_q[MacCycles-1] && !mac_valid_q[MacCycles-2];
      StFinish:  phase_done = finishes && !reads;
      default:   phase_done = drains && &out_place && out_row == transform_last;
    endcase
  end

  // ------------------------------------------------------------------ answers on the bus
  logic [31:0] control;
  logic [3:0]  control_at_q;
  always_comb begin
    unique case (control_at_q)
      4'd0:    control = 32'(busy);
      4'd1:    control = 32'(k_q);
      4'd2:    control = 32'(cycles_q);
      default: control = control_at_q[3] ? message_q[{control_at_q[2:0], 5'd0}+:32] : '0;
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bvalid_o <= 1'b0;
      rvalid_o <= 1'b0;
      read_q   <= 1'b0;
    end else begin
      bvalid_o <= write || (bvalid_o && !bready_i);
      read_q   <= read;
      rvalid_o <= read_q || (rvalid_o && !rready_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (read) begin
      read_bank_q  <= read_bank;
      control_at_q <= araddr_i[5:2];
    end
    if (read_q) begin
      unique case (read_bank_q)
        BankControl: rdata_o <= control;
        BankA:       rdata_o <= {4'd0, pair_a[1], 4'd0, pair_a[0]};
        BankS:       rdata_o <= {4'd0, pair_s[1], 4'd0, pair_s[0]};
        BankE:       rdata_o <= {4'd0, pair_e[1], 4'd0, pair_e[0]};
        default:     rdata_o <= {4'd0, pair_t[1], 4'd0, pair_t[0]};
      endcase
    end
  end
endmodule
