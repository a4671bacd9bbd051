// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/dtype.h"

namespace lowtide::import_internal {

// How much is known of a number before the run. `at_most` is a proven upper bound of a number that is never
// negative, such as an extent. Only operations that are monotonic in the number keep the bound.
enum class Knowledge : std::uint8_t { unknown, at_most, exact };

// An extent of a tensor before the run.
struct KnownExtent {
  Knowledge knowledge = Knowledge::unknown;
  std::int64_t extent = 0;  // if exact or at_most; >= 0
  std::string symbol;       // name of an unknown extent if the file has one, such as "batch"
  friend bool operator==(const KnownExtent&, const KnownExtent&) = default;
};

// An element of a small tensor before the run. Integers and bool (0 or 1) use `integer`, floats use `real`. An
// integer is in the range of its type; a u64 that does not fit into 63 bits is unknown. A real is a number of its
// type, so an f16 has a value that an f16 can represent. `at_most` means at least 0, at most the number, and not
// NaN.
struct KnownElement {
  Knowledge knowledge = Knowledge::unknown;
  std::int64_t integer = 0;
  double real = 0;
  // Name of an unknown element that is an unknown extent and therefore never negative. It is kept through Shape,
  // movement of data, casts between integers of at least 32 bits, and arithmetic that changes nothing (x 1, + 0). Every
  // extent is assumed to fit into an i32.
  std::string symbol;

  friend bool operator==(const KnownElement&, const KnownElement&) = default;
};

// The content of a small tensor of at most limits::kMaxFoldedElements elements, in row-major order.
struct KnownContent {
  DType dtype = DType::i64;
  std::vector<std::int64_t> extents;
  std::vector<KnownElement> elements;  // as many as the product of the extents
};

// What is known of an input of a node before the run.
struct KnownInput {
  std::optional<DType> dtype;                       // nullopt if the input is omitted or is not a tensor
  std::optional<std::vector<KnownExtent>> extents;  // nullopt if the rank is unknown
  std::shared_ptr<const KnownContent> content;      // nullptr if nothing is known of the content
};

}  // namespace lowtide::import_internal
