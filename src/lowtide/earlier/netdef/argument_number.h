// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/dtype.h"

namespace lowtide::netdef_internal {

// A number of an argument: a real of 32 bits, or an integer.
using ArgumentNumber = std::variant<float, std::int64_t>;

// nullopt: the argument has none, but a text for example.
[[nodiscard]] std::optional<ArgumentNumber> number_of_argument(const ProtoMessage& argument);
[[nodiscard]] std::vector<ArgumentNumber> numbers_of_argument(const ProtoMessage& argument);

// "2.5", "7"
[[nodiscard]] std::string shown_number(const ArgumentNumber& number);

// The number as an element (conversion/element_bytes.h). Only reals of 16 bits round it. nullopt: the type does not
// have it, such as 2.5 or 2^40 for i32, or 2^24 + 1 for f32. Requires: has_element_bytes(dtype).
[[nodiscard]] std::optional<std::string> bytes_of_number(const ArgumentNumber& number, DType dtype);

}  // namespace lowtide::netdef_internal
