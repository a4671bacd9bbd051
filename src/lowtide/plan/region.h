// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"

namespace lowtide {

using RegionId = Id<struct RegionTag>;

// A memory. Every offset in it is counted from its start.
struct Region {
  std::string name;
  std::optional<Bytes> capacity;  // nothing: as much as the plan needs
  Bytes alignment = Bytes(64);    // of every buffer in it; a power of two, <= limits::kMaxAlignment
  friend bool operator==(const Region&, const Region&) = default;
};

struct Placement {
  RegionId region;
  Offset offset;  // >= 0, a multiple of the region's alignment
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace lowtide
