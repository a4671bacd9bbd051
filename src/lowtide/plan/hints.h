// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// How a result is to be treated if a budget is not kept otherwise.
enum class HintKind : std::uint8_t {
  recompute,  // its node runs at least twice
  keep,       // its node runs once
  swap,       // its node runs once, and the result may leave over a link
};
template <>
inline constexpr auto kEnumNames<HintKind> =
    enum_names<HintKind>({{HintKind::recompute, "recompute"}, {HintKind::keep, "keep"}, {HintKind::swap, "swap"}});

// A hint as it is written: the name of a node, or of a tensor that the node makes.
struct HintRequest {
  std::string name;
  HintKind kind = HintKind::keep;
  friend bool operator==(const HintRequest&, const HintRequest&) = default;
};

// A hint for a node of a graph.
struct NodeHint {
  NodeId node;
  HintKind kind = HintKind::keep;
  friend bool operator==(const NodeHint&, const NodeHint&) = default;
};

// The key of a model's metadata whose value has this form.
inline constexpr std::string_view kHintsKey = "lowtide.hints";

// Parses hints: {"hints": [{"name": "conv1", "hint": "recompute"}, {"name": "x", "hint": "keep"}]}. docs/hints.md is
// the reference. Messages begin with `source_name`. Errors: malformed. O(length).
[[nodiscard]] Result<std::vector<HintRequest>> parse_hints(std::string_view text, std::string source_name);

}  // namespace lowtide
