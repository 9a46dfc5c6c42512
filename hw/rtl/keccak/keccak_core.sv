// SPDX-License-Identifier: Apache-2.0
// The sponge [FIPS202]. While the state is permuted, the next block is gathered in the input block, and the last
// squeezed block leaves through the output block. The user pads the message.
//
// In a cycle in which busy_o is low, any of these may be set:
//   first_i    takes the state for zero
//   absorb_i   adds the input block to the state, and clears the block; needed once after the reset
//   permute_i  begins 24 rounds in the next cycle; busy_o is high meanwhile
// At any time:
//   capture_i  copies the state, as it is before this cycle, to the output block
//   write_i    writes word_i to lane write_lane_i of the input block, unless the block is absorbed in this cycle
//   next_i     shifts the output block: word_o, its first lane, becomes the next one; with two lanes also wide_word_o,
//              its first 96 bits. A block is read either by words or by wide words.
// Both blocks have 21 lanes, the rate of SHAKE128. The input block is never shifted, so it needs no multiplexers; the
// output block has one for each lane.
module keccak_core
  import keccak_pkg::*;
#(
  parameter int unsigned RoundsPerCycle = 1,  // 1 or 2
  parameter int unsigned Lanes = 1            // 1 or 2
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         first_i,
  input  logic         absorb_i,
  input  logic         capture_i,
  input  logic         permute_i,
  output logic         busy_o,
  input  logic         write_i,
  input  logic [4:0]   write_lane_i,  // below 21
  input  logic [63:0]  word_i,
  input  logic         next_i,
  output logic [63:0]  word_o,
  output logic [95:0]  wide_word_o  // zeros with one lane
);
  localparam int unsigned BlockLanes = 21;

  logic [4:0] round_q;  // the round of the next cycle; 24: idle

  assign busy_o = round_q < 24;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)        round_q <= 5'd24;
    else if (busy_o)    round_q <= round_q + 5'(RoundsPerCycle);
    else if (permute_i) round_q <= '0;
  end

  logic [24:0][63:0] state_q, before_last, mixed;
  logic [63:0] constant;
  if (RoundsPerCycle == 1) begin : gen_one
    assign before_last = state_q;
    assign constant    = RoundConstants[round_q];
  end else begin : gen_two
    logic [24:0][63:0] mixed_first, between;
    keccak_mix u_first (.state_i(state_q), .busy_i(1'b1), .flags_i('0), .mixed_o(mixed_first));
    always_comb begin
      for (int unsigned x = 0; x < 5; x++)
        for (int unsigned y = 0; y < 5; y++)
          between[x+5*y] = mixed_first[x+5*y] ^ (~mixed_first[(x+1)%5+5*y] & mixed_first[(x+2)%5+5*y]);
      between[0] ^= RoundConstants[round_q];
    end
    assign before_last = between;
    assign constant    = RoundConstants[round_q+5'd1];
  end

  // Between permutations, the mixed lanes are flags: those of even columns keep the state, those of odd columns add a
  // word. So a bit of the state depends on six bits: three mixed ones, its own, one of the input block, and busy_o.
  logic [24:0] flags;
  for (genvar i = 0; i < 25; i++) begin : gen_flags
    assign flags[i] = i % 5 % 2 == 0 ? !first_i : absorb_i;
  end
  keccak_mix u_last (.state_i(before_last), .busy_i(busy_o), .flags_i(flags), .mixed_o(mixed));

  logic [BlockLanes-1:0][63:0] gathered_q, leaving_q;
  for (genvar i = 0; i < 25; i++) begin : gen_lane
    localparam int unsigned Row = i - i % 5;
    logic [63:0] added, lane;
    if (i < BlockLanes) begin : gen_block
      assign added = gathered_q[i];
      always_ff @(posedge clk_i) begin
        if (absorb_i)                               gathered_q[i] <= '0;
        else if (write_i && write_lane_i == 5'(i)) gathered_q[i] <= word_i;
      end
    end else begin : gen_capacity
      assign added = '0;
    end
    keccak_choice #(.Column(i % 5)) u_choice (
      .busy_i(busy_o), .mixed_i(mixed[i]), .next_i(mixed[Row+(i+1)%5]), .second_i(mixed[Row+(i+2)%5]),
      .state_i(state_q[i]), .added_i(added), .lane_o(lane)
    );
    always_ff @(posedge clk_i) begin
      if (busy_o || first_i || absorb_i) state_q[i] <= i == 0 && busy_o ? lane ^ constant : lane;
    end
  end

  logic [4:0] place_q;  // the place of the lane that leaves next
  always_ff @(posedge clk_i) begin
    if (capture_i)   place_q <= '0;
    else if (next_i) place_q <= place_q + 5'd1;
    if (capture_i) leaving_q <= state_q[BlockLanes-1:0];
  end
  // Selects one of four lanes in each group, then one of six groups. Left to itself, synthesis takes more LUTs.
  logic [5:0][63:0] fours;
  for (genvar i = 0; i < 5; i++) begin : gen_four
    logic [3:0][63:0] lanes;
    (* keep *) logic [63:0] four;
    assign lanes    = leaving_q[4*i+:4];
    assign four     = lanes[place_q[1:0]];
    assign fours[i] = four;
  end
  assign fours[5] = leaving_q[20];
  logic [3:0][63:0] first_fours;
  (* keep *) logic [63:0] sixteen;
  assign first_fours = fours[3:0];
  assign sixteen     = first_fours[place_q[3:2]];
  assign word_o  = place_q[4] ? (place_q[2] ? fours[5] : fours[4]) : sixteen;

  if (Lanes == 2) begin : gen_wide
    logic [15:0][95:0] wide_words;
    logic [3:0][95:0]  four;
    assign wide_words = (16*96)'(leaving_q);
    for (genvar i = 0; i < 4; i++) begin : gen_four
      logic [3:0][95:0] from;
      (* keep *) logic [95:0] wide_word;
      assign from      = wide_words[4*i+:4];
      assign wide_word = from[place_q[1:0]];
      assign four[i]   = wide_word;
    end
    assign wide_word_o = four[place_q[3:2]];
  end else begin : gen_no_wide
    assign wide_word_o = '0;
  end

`ifdef FORMAL
  initial round_q = 5'd24;
  always_comb assert (round_q <= 24 && round_q % RoundsPerCycle == 0);
`endif
endmodule
