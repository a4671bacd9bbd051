// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// Why a step copies bytes.
enum class CopyReason : std::uint8_t {
  reorders,   // the node gives the elements another order, repeats them, or takes only some of those in a row
  pieces,     // a part is not one run of bytes in the whole, because an axis before the split one has several elements,
              // or because one block of channels has parts of several operands
  unknown,    // a size or a position is known only during the run
  format,     // a kernel reads another format than the one that another kernel writes (target/formats.h)
  outside,    // the bytes belong to the caller or are constants, and do not move
  output,     // both tensors are needed at the end, and each needs bytes of its own
  elsewhere,  // the bytes are a part of another tensor, such as another operand of a concat
  state,      // the next content of a state is written at the end of the run
  region,     // the bytes move to another region
  chosen,     // the plan could share the bytes, but then it would not be smaller
};

template <>
inline constexpr auto kEnumNames<CopyReason> = enum_names<CopyReason>({{CopyReason::reorders, "reorders"},
                                                                       {CopyReason::pieces, "pieces"},
                                                                       {CopyReason::unknown, "unknown"},
                                                                       {CopyReason::format, "format"},
                                                                       {CopyReason::outside, "outside"},
                                                                       {CopyReason::output, "output"},
                                                                       {CopyReason::elsewhere, "elsewhere"},
                                                                       {CopyReason::state, "state"},
                                                                       {CopyReason::region, "region"},
                                                                       {CopyReason::chosen, "chosen"}});

// A step that only moves bytes: a copy, or the kernel of a node whose outputs hold only bytes of its inputs, such as a
// Transpose or Concat.
struct CopyLeft {
  std::string inside;  // of a step in a body: the names of the nodes and bodies around it, "loop/body"
  StepId step;         // in its plan
  std::string op;      // "Concat", "domain::Type"; "copy" for a copy
  std::string name;    // of the node, or of the tensor that is copied
  Bytes bytes;         // that it writes
  CopyReason reason = CopyReason::chosen;
};

// Returns the copies of a plan and of its bodies, the largest first, then in the order of the steps. Requires: the plan
// is of this graph and well-formed. O(n log n) in steps, reads and writes. No recursion.
[[nodiscard]] std::vector<CopyLeft> copies_left(const Graph& graph, const Plan& plan);

}  // namespace lowtide
