// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide {

// A blob that has a slot before a rule begins.
struct AssignedBlob {
  std::string slot;  // a name, which no blob needs to have
  std::string blob;
  std::string place;  // of the row: "line 2"
};

// Reads the slots of blobs from a CSV text, which must begin with this header. Slots are in the order of their first
// rows.
//
//   slot,blob
//   0,conv1        slot 0 holds conv1 and fc1
//   0,fc1
//   1,pool1
//
// A name of a blob may have commas, that of a slot may not. Errors: malformed, with the line as place. O(bytes).
[[nodiscard]] Result<std::vector<AssignedBlob>> parse_assigned_blobs(std::string_view csv);

}  // namespace lowtide
