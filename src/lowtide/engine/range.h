// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/engine/engine.h"

namespace lowtide {

// A model that is ready to run with several shapes. Each member has a plan for one of them. Sessions of all members can
// have the same arena, of the size that the largest member needs. Members whose load-time work is equal share the
// weights.
//
//   Result<OpenedRange> range = open_range("model.onnx", std::vector<SizeChoice>{
//       {.shapes = {{"x", {1, 3, 320, 320}}}}, {.shapes = {{"x", {1, 3, 640, 640}}}}});
//   const Arena arena = *Arena::allocate(range->required_bytes());
//   const OpenedModel* member = range->find({{"x", extents}});
//   Session session = *Session::open(member->executable, arena);
struct OpenedRange {
  std::vector<OpenedModel> members;  // at least one

  [[nodiscard]] Bytes required_bytes() const;  // of an arena for any of the members
  // The first member whose inputs have these extents. Returns nullptr if there is none.
  [[nodiscard]] const OpenedModel* find(const std::map<std::string, std::vector<std::int64_t>>& inputs) const;
};

// Opens the model once per choice, whose sizes are added to options.import. Of a prepared file, each choice opens the
// plan with its sizes. Requires: there is at least one choice, and no given plan. Errors: those of open_model.
[[nodiscard]] Result<OpenedRange> open_range(const std::string& path, std::span<const SizeChoice> choices,
                                             const OpenOptions& options = {});

// Opens all plans of a prepared file, or those with the sizes of options.import. A model is the only member of its
// range. Errors: those of open_model.
[[nodiscard]] Result<OpenedRange> open_range(const std::string& path, const OpenOptions& options = {});

// Opens the model once per entry of `options`, such as one per plan of a file (read_plans_json). With a single entry, a
// prepared file gives all plans with its sizes. Requires: there is at least one entry, and only plans, bindings and
// budgets differ. Errors: those of open_model.
[[nodiscard]] Result<OpenedRange> open_members(const std::string& path, std::span<const OpenOptions> options);

}  // namespace lowtide
