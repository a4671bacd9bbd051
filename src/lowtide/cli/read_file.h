// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/result.h"

namespace lowtide::cli_internal {

// The content of a regular file of at most `most_bytes`; "-" is stdin. Pipes and devices are refused, because opening
// them could wait forever. Errors: io, over_limit.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::int64_t most_bytes);

}  // namespace lowtide::cli_internal
