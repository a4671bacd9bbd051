// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

inline constexpr std::int64_t kMaxPackingBuffers = 10'000'000;

// The text behind import_packing (import/import.h). The place of an error is "line 3, column 'size'", counted from 1.
//
//   id,lower,upper,size,alignment,gaps       the gaps of b: [4,6) and [8,9)
//   a,0,3,64,1,
//   b,2,10,128,64,4-6 8-9
//
// Numbers are plain decimal digits. `offset` and `gaps` may be empty: not fixed, no gaps. `gaps` separates its spans by
// single spaces; MiniMalloc's windows ("4-6@0:64", part of the buffer stays) are refused as unsupported.
// Lines end in LF or CRLF; empty lines only at the end. A byte order mark at the start is no part of the first name.
// O(bytes).
[[nodiscard]] Result<PackingProblem> parse_packing(std::string_view text);

}  // namespace lowtide
