// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/result.h"

namespace lowtide::cli_internal {

// The whole of a regular file of at most `most_bytes`; "-" is stdin. Nothing but a regular file is waited for: a pipe
// or device by name is refused. Errors: io, over_limit.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::int64_t most_bytes);

}  // namespace lowtide::cli_internal
