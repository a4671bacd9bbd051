// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_view.h"
#include "lowtide/graph/text.h"

// What graphdef_of_graph keeps of a graph although a GraphDef has no place for it. TensorFlow ignores attributes whose
// names begin with "_". They are written only where the node does not say the same without them.
namespace lowtide::graphdef_internal {

namespace kept {
inline constexpr std::string_view kPrefix = "_lowtide_";
inline constexpr std::string_view kDomain = "_lowtide_domain";         // of the operator, a text
inline constexpr std::string_view kType = "_lowtide_type";             // of the operator, a text
inline constexpr std::string_view kNames = "_lowtide_names";           // of the node, then of its outputs
inline constexpr std::string_view kTypes = "_lowtide_types";           // of the outputs: "f32[1,<=3]"; "_": left out
inline constexpr std::string_view kInputs = "_lowtide_inputs";         // their positions, then the number of positions
inline constexpr std::string_view kOutputs = "_lowtide_outputs";       // port, position among the graph's outputs, ...
inline constexpr std::string_view kNoContent = "_lowtide_no_content";  // the numbers of a Const are not known
inline constexpr std::string_view kAdded = "_lowtide_added";           // attributes that the graph does not have
}  // namespace kept

// The texts of a list; empty if there is no such attribute.
[[nodiscard]] std::vector<std::string_view> kept_texts(const NodeView& node, std::string_view key);

// The types of the outputs; nullopt in the list: the output is left out. nullopt: the node does not state them.
[[nodiscard]] std::optional<std::vector<std::optional<TensorType>>> kept_types(const NodeView& node);

// The positions of `inputs` data inputs, and behind them their number. Empty: every position has an input. Errors:
// invalid.
[[nodiscard]] Result<std::vector<std::int64_t>> kept_inputs(const NodeView& node, std::size_t inputs);

}  // namespace lowtide::graphdef_internal
