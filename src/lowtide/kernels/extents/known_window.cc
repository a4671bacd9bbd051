// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/extents/known_window.h"

#include "lowtide/kernels/common/extents.h"

namespace lowtide::kernels_internal {

std::optional<KnownExtents> known_window(const WindowAttributes& attributes, const KnownExtents& operand,
                                         const KnownExtents& taps) {
  const std::size_t spatial = operand.size() < 2 ? 0 : operand.size() - 2;
  if (spatial > kMostSpatial) return KnownExtents(spatial);  // no kernel has it, and says so
  if (taps.size() != spatial) return std::nullopt;
  const auto from = all_known(std::span(operand).subspan(2));
  const auto kernel = all_known(taps);
  if (!from || !kernel) return KnownExtents(spatial);
  Extents extents{1, 1};
  for (std::int64_t extent : *from) extents.push_back(extent);
  const std::optional<Window> window = window_over(attributes, extents, Extents(*kernel));
  if (!window) return std::nullopt;
  KnownExtents to;
  for (std::size_t at = kMostSpatial - spatial; at < kMostSpatial; ++at) to.emplace_back(window->axes[at].out);
  return to;
}

KnownExtents with_spatial(const KnownExtent& batch, const KnownExtent& channels, const KnownExtents& spatial) {
  KnownExtents all{batch, channels};
  all.insert(all.end(), spatial.begin(), spatial.end());
  return all;
}

}  // namespace lowtide::kernels_internal
