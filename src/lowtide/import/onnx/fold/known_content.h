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
// negative (an extent): it survives only operations that are monotonic in it.
enum class Knowledge : std::uint8_t { unknown, at_most, exact };

// An extent of a tensor before the run.
struct KnownExtent {
  Knowledge knowledge = Knowledge::unknown;
  std::int64_t extent = 0;  // if exact or at_most; >= 0
  std::string symbol;       // name of an unknown extent in the file, where it has one: "batch"
  friend bool operator==(const KnownExtent&, const KnownExtent&) = default;
};

// An element of a small tensor before the run. `integer` is used by integers and bool (0 or 1), `real` by floats.
// An integer is within the range of its type; of u64, what does not fit 63 bits is unknown. A real is a number of its
// type (an f16 holds what an f16 can hold). `at_most` says: at least 0, at most that number, and not NaN.
struct KnownElement {
  Knowledge knowledge = Knowledge::unknown;
  std::int64_t integer = 0;
  double real = 0;
  std::string symbol;  // an unknown element that is an unknown extent, so never negative: keeps its name through Shape,
                       // movement of data, casts between integers of 32 bits and more (an extent that an i32 would cut
                       // is taken not to occur), and arithmetic that changes nothing (x 1, + 0)
  friend bool operator==(const KnownElement&, const KnownElement&) = default;
};

// The content of a small tensor (at most limits::kMaxFoldedElements), row-major, each element known or not.
struct KnownContent {
  DType dtype = DType::i64;
  std::vector<std::int64_t> extents;
  std::vector<KnownElement> elements;  // as many as the product of extents
};

// What is known of a node's input before the run.
struct KnownInput {
  std::optional<DType> dtype;                       // nothing: the input is left out or not a tensor
  std::optional<std::vector<KnownExtent>> extents;  // nothing: the rank is not known
  std::shared_ptr<const KnownContent> content;      // nullptr: nothing is known of the content
};

}  // namespace lowtide::import_internal
