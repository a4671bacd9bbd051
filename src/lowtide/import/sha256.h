// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace lowtide::import_internal {

// Returns the SHA-256 of the bytes as 64 lower-case hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace lowtide::import_internal
