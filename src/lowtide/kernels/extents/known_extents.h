// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lowtide::kernels_internal {

// An extent as far as it is known before a run. nullopt: the data decide it.
using KnownExtent = std::optional<std::int64_t>;
using KnownExtents = std::vector<KnownExtent>;

// Whether two extents may be equal in some run.
[[nodiscard]] inline bool may_equal(const KnownExtent& a, const KnownExtent& b) { return !a || !b || *a == *b; }
[[nodiscard]] bool may_equal(std::span<const KnownExtent> a, std::span<const KnownExtent> b);

// Sums and products. nullopt: an extent is not known, or the result has no 64 bits. A factor of 0 gives 0 in any case.
[[nodiscard]] KnownExtent sum_of(const KnownExtent& a, const KnownExtent& b);
[[nodiscard]] KnownExtent product_of(std::span<const KnownExtent> factors);

// The extents of operands that are broadcast to each other. nullopt: they disagree.
[[nodiscard]] std::optional<KnownExtents> broadcast_known(KnownExtents a, KnownExtents b);

// Whether an operand may be broadcast to these extents without changing them.
[[nodiscard]] bool may_broadcast_to(const KnownExtents& operand, const KnownExtents& to);

// All extents, if each of them is known.
[[nodiscard]] std::optional<std::vector<std::int64_t>> all_known(std::span<const KnownExtent> extents);
[[nodiscard]] KnownExtents known(std::span<const std::int64_t> extents);

// "[1,?,3]"
[[nodiscard]] std::string to_text(std::span<const KnownExtent> extents);

}  // namespace lowtide::kernels_internal
