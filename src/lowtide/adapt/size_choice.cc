// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/size_choice.h"

namespace lowtide {

void add_sizes(const SizeChoice& choice, ImportOptions& options) {
  for (const auto& [name, extent] : choice.dims) options.dims[name] = extent;
  for (const auto& [name, extents] : choice.shapes) options.shapes[name] = extents;
}

}  // namespace lowtide
