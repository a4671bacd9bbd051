// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace lowtide::import_internal {

// SHA-256 of the bytes, in lower-case hex (64 digits).
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace lowtide::import_internal
