// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// Owns a plan and its names. The tests of the page show it.
struct PlanSketch {
  Plan plan;
  Labels labels;
};

// Writes a plan down by hand. Each call names what it adds; ids count up from 0 in that order.
class Sketcher {
 public:
  explicit Sketcher(const std::string& graph);

  BufferId buffer(BufferKind kind, std::int64_t size, std::uint32_t begin, std::uint32_t end,
                  std::optional<std::int64_t> offset = std::nullopt);
  // Moves the buffer added last to another region; buffers are in region 0 otherwise. Requires: it has an offset.
  void place_in(RegionId region);
  // The parts of the buffer added last, from its first byte on.
  void parts(std::vector<BufferPart> parts);
  // A tensor of `size` bytes and the value that holds it. The step added next writes it if it is temporary or an
  // output.
  ValueId value(const std::string& tensor, std::int64_t size, BufferId buffer, std::int64_t offset, Role role);
  // A step that writes the values added since the previous step.
  StepId step(const std::string& node, const std::string& op, const std::vector<ValueId>& reads,
              StepKind kind = StepKind::compute, std::optional<BufferId> scratch = std::nullopt);
  // A step that computes the node of `first` again. It writes the values that `again` has added since.
  StepId step_again(StepId first, const std::vector<ValueId>& reads);
  // Another value of the tensor of `first`.
  ValueId again(ValueId first, BufferId buffer, std::int64_t offset);
  // A step that copies all of one value to another one, on a stream.
  StepId copy(ValueId from, ValueId to, StreamId stream);
  // A body of the step added last, with its plan at an offset of the step's scratch.
  void body(const std::string& name, PlanSketch inner, std::int64_t offset);

  // Arena and largest load are counted from the buffers; `bound` and the strategies are claimed as given.
  [[nodiscard]] PlanSketch finish(std::int64_t bound, const std::string& schedule = "greedy_by_freed_bytes",
                                  const std::string& allocate = "best_fit") &&;

 private:
  // Writes the values added since the step before.
  StepId add(Step step, std::optional<BufferId> scratch);

  PlanSketch sketch_;
  std::vector<ValueId> unwritten_;
};

// Nine steps with everything that a buffer can be (sizes in KiB; `.` is free):
//
//   address                                          step  0 conv1    x -> a
//    576 |      [s ]                                       1 relu1    a -> b, in place
//    512 |      [cat = c | d        ]                      2 conv2    b -> c, slice of cat, scratch s
//        |      [                   ]                      3 conv3    b -> d, slice of cat
//    256 |[a, b             ][      ]                      4 concat   c, d -> cat, no copy
//        |[                 ]       [logits, probs]        5 pool     cat -> e
//     64 |[                 ]    [e, f ]                   6 flatten  e -> f, a view
//      0 +--0--1--2--3--4--5--6--7--8                      7 dense    f -> logits      8 softmax -> probs
[[nodiscard]] PlanSketch small_plan();
// A graph with the same nodes. conv1 has 9,437,184 multiply-accumulates, conv2 2,097,152 and dense 16,777,216. Those of
// conv3 are not known, because it has no weights here.
[[nodiscard]] Graph small_plan_graph();
// The same network with a copying concat: nothing is a slice, so the arena is larger.
[[nodiscard]] PlanSketch small_plan_before();
// An If whose then-branch runs a Loop; the branches share the bytes of one scratch buffer.
[[nodiscard]] PlanSketch bodies_plan();
// A buffer of three parts, and the buffers that use its bytes while these are not live (sizes in KiB; the parts are
// drawn with #):
//
//   address                             step  0 conv1  x -> a, slice of cat    parts of cat:
//    192 |       [u       ]                   1 conv2  a -> t                    64 in [0,7)
//    128 |   [t   ][s][####]  out             2 conv3  t -> u                    32 in [3,7)
//     96 |   [    ][#######]                  3 conv4  u -> b, slice, scratch s  32 in [4,7)
//     64 |[################]                  4 conv5  u -> c, slice
//      0 +-0--1--2--3--4--5--6                5 concat a, b, c -> cat            6 pool  cat -> out, at 128
//
// Load: 64, 128, 192, 192, 192, 128, 160.
[[nodiscard]] PlanSketch parts_plan();
// The same, with a buffer for each of a, b and c, and a copying concat.
[[nodiscard]] PlanSketch parts_plan_before();
// `count` buffers of eight parts of 4 KiB each. Each part begins one step after the part before it. Until then, another
// buffer uses its bytes, except those of the first part, so 32 KiB are live. The next buffer of parts begins eight
// steps later, above or below, and is live for one step together with the one before it.
[[nodiscard]] PlanSketch staircases_plan(std::uint32_t count);
// Two branches on two streams; the second waits for the first step, the last step for the second branch.
[[nodiscard]] PlanSketch streams_plan();
// An activation function of three element-wise nodes, on two buffers of 256 KiB:
//
//   step  0 conv1  input -> x, at 0     1 add  x -> a, at 256 KiB    2 clip  a -> c, in place
//         3 mul    x, c -> m, over x    4 conv2  m -> out of 64 KiB
//
// Load: 256, 512, 512, 512, 320. One operator for steps 1 to 3 needs no buffer for a and c.
[[nodiscard]] PlanSketch activation_plan();
// Five steps with 16 bytes between two with 64 KiB.
[[nodiscard]] PlanSketch idle_plan();
// Two regions.
[[nodiscard]] PlanSketch regions_plan();
// A skip connection: at the peak, step 2, tensor 1 (64 KiB) stays for step 3.
PlanSketch skip_plan();

// A tensor that is swapped out to a second region and in again over two links, and a node that runs twice.
[[nodiscard]] PlanSketch transfers_plan();
// Names that try to end a script, start a tag, reverse text, drive a terminal, or are not text.
[[nodiscard]] PlanSketch hostile_plan();
// The names of hostile_plan's tensors, as they are in the file.
[[nodiscard]] std::vector<std::string> hostile_names();
[[nodiscard]] PlanSketch empty_plan();
// A plan with steps, in which no buffer is placed.
[[nodiscard]] PlanSketch unplaced_plan();
// An encoder and a decoder with skip connections, packed greedily by size, as in a real plan. `in_place` says whether
// activations overwrite their inputs.
[[nodiscard]] PlanSketch encoder_decoder_plan(int levels, bool in_place);
// A chain with random residual connections: as many buffers as steps, packed first fit in the order of steps.
[[nodiscard]] PlanSketch generated_plan(std::uint32_t steps, std::uint64_t seed);

}  // namespace lowtide
