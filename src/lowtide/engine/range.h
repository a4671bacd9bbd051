// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/adapt/dim_range.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/engine/engine.h"

namespace lowtide {

// A model that is ready to run with several shapes. Each member has a plan for one of them. Sessions of all members can
// have the same arena, of the size that the largest member needs. Members whose load-time work is equal share the
// weights.
//
//   Result<OpenedRange> range = open_range("model.onnx", {"batch", {1, 2, 4, 8}});
//   const Arena arena = *Arena::allocate(range->required_bytes());
//   const OpenedModel* member = range->find("x", extents);
//   Session session = *Session::open(member->executable, arena);
struct OpenedRange {
  std::vector<OpenedModel> members;  // at least one

  [[nodiscard]] Bytes required_bytes() const;  // of an arena for any of the members
  // The first member whose input has these extents. Returns nullptr if there is none.
  [[nodiscard]] const OpenedModel* find(std::string_view input, std::span<const std::int64_t> extents) const;
};

// Opens the model once per extent, with options.import.dims[symbol] set to it. Requires: there is at least one extent,
// and no given plan. Errors: those of open_model.
[[nodiscard]] Result<OpenedRange> open_range(const std::string& path, const DimRange& range,
                                             const OpenOptions& options = {});

// Opens the model once per entry of `options`, such as one per plan of a file (read_plans_json). Requires: there is at
// least one entry, and only plans, bindings and budgets differ. Errors: those of open_model.
[[nodiscard]] Result<OpenedRange> open_members(const std::string& path, std::span<const OpenOptions> options);

}  // namespace lowtide
