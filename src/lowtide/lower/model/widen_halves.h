// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide {

// Lets operators that compute on f16 compute on f32. Kernels compute in f32, so most operators on f16 need their
// operands and results in f32 besides those in f16. After the pass they need them only once, and the other passes,
// which know f32, apply:
//
//   x : f16 -> Conv (w : f16) -> t : f16 -> Relu -> y : f16                        what the model says
//   x : f16 -> Cast -> Conv (Cast(w)) -> f32 -> Relu -> f32 -> Cast -> y : f16     what runs
//
// Constants become f32 when the model is loaded, so they need twice the bytes. Operators that move data, or compute
// element by element, stay on f16, unless an operand comes from one that computes on f32. Casts of the model, inputs,
// outputs, states, and the operands of If, Loop and Scan stay as they are. The f32 copy of tensor `t` has the name
// "t (f32)" (kWideSuffix); a graph that has such a name already keeps its f16. The results differ by rounding: what was
// rounded to f16 between two operators is not.
//
// Bodies are rewritten as well. Returns nullopt if nothing changes. Errors: those of GraphBuilder. O((nodes + edges)
// log nodes). Recursion only over bodies.
[[nodiscard]] Result<std::optional<Rewritten>> widen_halves(const Graph& graph);

}  // namespace lowtide
