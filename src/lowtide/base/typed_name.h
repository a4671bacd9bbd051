// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

// Names that a user types, as they are in the model or as messages show them.
namespace lowtide {

// Whether a user means this name: it is given as it is, or with the escapes of `quoted` (base/quote.h).
[[nodiscard]] bool means_name(std::string_view given, std::string_view name);

// A name as a user can type it, on one line: `quoted` without its quotes and without a length limit.
[[nodiscard]] std::string typed_name(std::string_view name);

}  // namespace lowtide
