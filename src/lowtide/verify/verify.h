// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/violation.h"

namespace lowtide {

// Replays a finished plan against the graph that it is for, from first principles. It keeps a map from each byte to its
// last writer, and updates the map step by step. It uses only the graph and the plan, and no code of a planner. A plan
// may have any origin, so every id and number is checked before it is used. The caller compares the digest of the model
// file.
//
// A plan is right if, for the graph and for each body inside it,
//   - it names this graph. The plan of a body names the model, tool, bindings and target of the plan around it. Ids,
//     counts and sizes are in range;
//   - every node runs, and again only if its operator always gives the same result. Each step reads and writes what its
//     node does, after what it depends on, control inputs included. Copies fill all bytes of a value, each once;
//   - placed buffers lie inside their arena and are aligned, and two that are live together share no byte. Values lie
//     inside their buffers, and no step touches a buffer outside its lifespan;
//   - workers touch only bytes in regions that they address, and links copy only from `Link::from` to `Link::to`;
//   - no step reads bytes that were overwritten since its value was put there, and outputs are intact at the end;
//   - the results and scratch of a kernel share no bytes with each other or with its operands. A result may take over
//     an operand if the operator permits it. The outputs of an alias step lie where the meaning of its operator says;
//   - inputs, constants and state lie alone in buffers of their kind. Nothing writes inputs and constants. Each byte of
//     a state is written at most once, and at the end the state's bytes hold its next content;
//   - read-only regions hold only constants. The region that the plan states for constants has space for them;
//   - outputs lie in buffers of kind output, no two in the same bytes;
//   - if two steps on different streams touch the same bytes and one of them writes, one happens before the other. The
//     step that writes a value happens before those that read it;
//   - streams and waits suit the execution model that the plan states;
//   - claims that can be recomputed are true. A bound is not recomputed. If the plan is in its scope, it is compared
//     with the load, with each body at its own bound.
// A plan that cannot be shown to be right is refused. So a wrong plan never passes, and planners make only plans that
// can be shown to be right.
//
// Why this is enough for several streams: the replay follows the list, which is one possible run. In any other run two
// steps that touch the same bytes come in the same order, because one happens before the other. So each byte sees the
// same sequence of writes and reads, and every step reads what it reads in the replay.
//
// Returns every violation, by stage (form, addresses, roles, constants, program, reach, replay, races, execution,
// claims, bodies) and in order within each. An empty list means that the plan is right. A plan whose form is wrong is
// not replayed. O((streams x (steps + values) + violations) log n). Recursion only over bodies (<= kMaxBodyNesting).
[[nodiscard]] std::vector<Violation> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options = {});

// Checks that the labels of a plan file are those of the graph and of its bodies: names, operators, types, roles,
// sizes. Readers that have a plan without its model, or look for tensors by name, rely on them. Violations are of kind
// wrong_model. O(nodes + tensors + length of the names).
[[nodiscard]] std::vector<Violation> verify_labels(const Graph& graph, const Labels& labels,
                                                   const VerifyOptions& options = {});

// Checks that a lowered graph computes in every run what the graph of the model computes. Tensors correspond by name.
// Each node that runs is a node of the model with the same operands, except that
//   - a tensor whose content is equal in all runs may be a constant,
//   - pure nodes may be left out,
//   - an operand may be the tensor that an Identity, a Cast to the same type or a Dropout copies, or a Pad, Slice,
//     Expand, Tile or Concat that leaves all elements where they are,
//   - lowtide::Chain may stand for the nodes of its program, which are compared one by one,
//   - a product with an epilogue may stand for the product and a lowtide::Chain of the epilogue's nodes,
//   - a Conv or an AveragePool may stand for itself and the Pad with zeros before it, if its pads are the sum of both,
//   - a Conv may stand for a Conv and a BatchNormalization, if its weights and its bias are results of
//     lowtide::ScaledWeights and lowtide::ScaledBias of their constants,
//   - a tensor may be in blocks of 8 or 16 channels, of which lanes without a channel are zero: convolutions, pools,
//     element-wise operators and joins of channels may run on blocks, a Transpose may begin or end in blocks, and
//     lowtide::Reorder may change the format,
//   - a LayerNormalization may stand for its formula, if `table` has the numbers of the formula,
//   - an operator on integers may stand for the same operator on real numbers between DequantizeLinear and
//     QuantizeLinear, where both give the same integers except for the rounding of sums, and
//   - one first node may write all inputs into the arena (lowtide::Inputs).
// `load` is the load-time work (Lowered::load), whose nodes are compared as well. It may have no nodes. The check uses
// no code of `lower`, and does not compare control inputs. `table` has the bytes of the model's constants; nullptr:
// none are known. Violations are of kind wrong_model.
// O(nodes + edges + tensors + length of the names and programs), times the load-time results that are folded. Recursion
// only over bodies.
[[nodiscard]] std::vector<Violation> verify_lowering(const Graph& model, const Graph& lowered, const Graph& load,
                                                     const VerifyOptions& options = {},
                                                     const ConstantTable* table = nullptr);

}  // namespace lowtide
