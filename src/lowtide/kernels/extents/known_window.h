// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/kernels/extents/known_extents.h"
#include "lowtide/kernels/plain/windows/sliding_window.h"

namespace lowtide::kernels_internal {

// The spatial extents of the result of a window over an operand [N, C, spatial...]. They are all unknown if one of the
// operand or of the window is. nullopt: window and operand do not agree.
[[nodiscard]] std::optional<KnownExtents> known_window(const WindowAttributes& attributes, const KnownExtents& operand,
                                                       const KnownExtents& taps);

// [batch, channels, spatial...]
[[nodiscard]] KnownExtents with_spatial(const KnownExtent& batch, const KnownExtent& channels,
                                        const KnownExtents& spatial);

}  // namespace lowtide::kernels_internal
