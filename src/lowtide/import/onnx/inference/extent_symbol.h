// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lowtide::import_internal {

// The symbol of an extent that the file does not name: "y[0]" for the first extent of y. A symbol is copied into the
// facts of all tensors that have the extent. So it has only the beginning and a hash of a name above
// limits::kMaxSymbolBytes.
[[nodiscard]] std::string extent_symbol(const std::string& tensor, std::size_t axis);

// The symbol of an extent that is larger than that of `symbol` by a number above 0: "y[0]+3". Of "y[0]+3", 2 more are
// "y[0]+5". Empty if `symbol` is empty.
[[nodiscard]] std::string symbol_plus(const std::string& symbol, std::int64_t added);

// By how much an extent is larger than that of `symbol`: 3 for "y[0]+3" and "y[0]", and 0 for equal symbols. nullopt if
// that is not known.
[[nodiscard]] std::optional<std::int64_t> growth_over(const std::string& symbol, const std::string& larger);

}  // namespace lowtide::import_internal
