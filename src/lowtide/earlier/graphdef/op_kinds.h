// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lowtide/earlier/graphdef/node_view.h"

namespace lowtide::graphdef_internal {

enum class NodeKind : std::uint8_t {
  ordinary,
  input,       // Placeholder
  constant,    // Const
  variable,    // a state
  same_state,  // output 0 is the variable that is input 0: Assign, ReadVariableOp, ApplyAdam
  no_output,   // NoOp, ResourceApplyAdam and others
  loop,        // refused
};

[[nodiscard]] NodeKind kind_of_op(std::string_view op);

// How many inputs, from the first one on, are variables that the operator writes.
[[nodiscard]] std::size_t count_written(std::string_view op);

// Whether output 0 has the memory of input 0, because its kernel makes no copy.
[[nodiscard]] bool is_view_of_input(std::string_view op);

// Whether the results differ from run to run, although the inputs do not.
[[nodiscard]] bool is_random(std::string_view op);

[[nodiscard]] std::size_t least_outputs(const NodeView& node);
// Whether a node has no more outputs than these.
[[nodiscard]] bool has_all_outputs(const NodeView& node);

}  // namespace lowtide::graphdef_internal
