// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

inline constexpr std::int64_t kMaxPackingBuffers = 10'000'000;

// Parses the text of a packing problem, as import_packing does for a file. The place of an error reads "line 3,
// column 'size'"; lines are counted from 1.
//
//   id,lower,upper,size,alignment,gaps       the gaps of b: [4,6) and [8,9)
//   a,0,3,64,1,
//   b,2,10,128,64,4-6 8-9
//
// Numbers are decimal digits. An empty `alignment` is 1. If `offset` is empty, `pack` chooses it. Empty `gaps` mean
// none. Spaces and tabs around a field are ignored. Single spaces separate gaps. MiniMalloc's windows ("4-6@0:64",
// where a part of the buffer stays live) are refused as unsupported. Lines end in LF or CRLF. Only the end of the text
// may have empty lines. A byte order mark at the start is skipped.
// Errors: malformed; invalid; unsupported (a window); over_limit. The result does not refer to `text`. O(bytes).
[[nodiscard]] Result<PackingProblem> parse_packing(std::string_view text);

}  // namespace lowtide
