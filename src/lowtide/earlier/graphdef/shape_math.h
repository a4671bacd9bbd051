// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lowtide/earlier/graphdef/node_view.h"

namespace lowtide::graphdef_internal {

// Larger strides, windows and extents of an image are errors, so that their sums and products fit into 64 bits.
inline constexpr std::int64_t kMostArgument = std::int64_t{1} << 31;

// The axis as an index; negative ones count from the end. nullopt: there is no such axis.
[[nodiscard]] std::optional<std::size_t> index_of_axis(std::int64_t axis, std::size_t rank);

// nullopt: it does not fit into 64 bits.
[[nodiscard]] std::optional<std::int64_t> product(const Extents& extents);

// Sums and products of extents are open if one of them is. nullopt: the result does not fit into 64 bits.
[[nodiscard]] std::optional<std::int64_t> added_extents(std::int64_t a, std::int64_t b);
[[nodiscard]] std::optional<std::int64_t> multiplied_extents(std::int64_t a, std::int64_t b);

[[nodiscard]] bool is_open(const Extents& extents);

// The shape of an element-wise result, with open extents where it depends on them. nullopt: the operands do not fit.
[[nodiscard]] std::optional<Extents> open_broadcast(Extents a, Extents b);

}  // namespace lowtide::graphdef_internal
