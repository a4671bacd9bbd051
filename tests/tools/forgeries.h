// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace lowtide::testing {

// Another text of a graph, in which one thing is wrong.
struct Forgery {
  std::string text;
  std::string role;  // of the tensor, or "attribute" or "omitted"
  std::string what;  // "f32[2] as f32[3] in: y = Relu(x) : f32[2]"
};

// Forgeries of a graph in its text form:
//
//   types       of a tensor: one more or one less element along an axis, an axis more or less, elements of another size
//   attributes  of a node: another name, so that it is missing, and a value of another kind
//   results     of a node: omitted, and so is each operand that reads them
[[nodiscard]] std::vector<Forgery> forgeries_of(const std::string& text);

}  // namespace lowtide::testing
