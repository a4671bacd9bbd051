// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/plan/machine.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/tflite/micro/tail.h"

// Whether a machine has the memory for TensorFlow Lite Micro with a model.
namespace lowtide::cli_internal {

// What the firmware puts into a region of a machine.
struct RegionUse {
  std::string region;
  std::vector<std::string> holds;  // "model": the bytes of the file; "arena", or "head" and "tail" if they are apart
  Bytes needed;
  std::optional<Bytes> capacity;  // nullopt: no limit

  [[nodiscard]] Bytes missing() const {
    return capacity && *capacity < needed ? Bytes(needed.count() - capacity->count()) : Bytes(0);
  }
};

struct FirmwareFit {
  std::vector<RegionUse> uses;      // regions that hold something, in the order of the machine
  bool has_place_for_file = false;  // the machine has a region that may hold the file
  [[nodiscard]] bool is_missing_bytes() const;
  // false: bytes are missing. nullopt: there is no place for the file, and the rest fits.
  [[nodiscard]] std::optional<bool> fits() const;
};

// Finds a place for the file first: the region of the constants, or else a read-only one that the first worker can
// address. Then the arena is in one of the regions that this worker can write. Only if none has enough space, head and
// tail are in two of them. If nothing fits, the answer is the one in which the fewest bytes are missing. Of equal
// answers, earlier regions count. O(regions^3).
[[nodiscard]] FirmwareFit fit_firmware(const Machine& machine, const MicroArena& arena, Bytes file_size);

[[nodiscard]] StyledText text_of(const FirmwareFit& fit);
[[nodiscard]] Json json_of(const FirmwareFit& fit);  // the regions

}  // namespace lowtide::cli_internal
