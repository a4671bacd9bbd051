// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/graph/graph.h"

namespace lowtide {

// The names that rooms `import` and `lower` write and other rooms recognize.

// The domain of operators that exist only in lowered graphs.
inline constexpr std::string_view kOwnDomain = "lowtide";

// The node that stands for the caller, which writes the inputs into the arena (inputs_in_arena.h).
inline constexpr std::string_view kCallerType = "Inputs";
inline constexpr std::string_view kCallerFullName = "lowtide::Inputs";  // full_name(Operator)

// A kernel that gives integers another scale (integer_operators.h).
inline constexpr std::string_view kRequantizeType = "Requantize";

// Whether the operator stands for the caller.
[[nodiscard]] inline bool is_caller(const Operator& op) { return op.domain == kOwnDomain && op.type == kCallerType; }

// The attribute of a node that has an older meaning of its operator, which newer opsets changed under the same
// signature. It is the opset that introduced that meaning, such as 11 for a Softmax over all axes from `axis` on. A
// node without it has the newest meaning.
inline constexpr std::string_view kSinceAttribute = "lowtide_since";

// The passes of lowering, in their order. A plan lists those that changed its graph (Provenance::lowering).
inline constexpr std::string_view kLoadTimePass = "load_time";
inline constexpr std::string_view kInputsInArenaPass = "inputs_in_arena";
inline constexpr std::string_view kOutputsAtCallerPass = "outputs_at_caller";

}  // namespace lowtide
