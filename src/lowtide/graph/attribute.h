// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lowtide {

// An attribute whose content Lowtide does not need, such as a tensor or a type. Only a description is kept, for
// display.
struct OpaqueAttribute {
  std::string description;  // "tensor f32[64,3,7,7]"
  friend bool operator==(const OpaqueAttribute&, const OpaqueAttribute&) = default;
};

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                    std::vector<std::string>, OpaqueAttribute>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

// Whether both have the same name and the same value. A NaN, such as the number that an Imputer replaces, is equal to
// itself.
[[nodiscard]] bool operator==(const Attribute& a, const Attribute& b);

// The value of the attribute with this name. Returns nullptr if there is none, or if it has another type. Linear in the
// number of attributes.
template <typename T>
[[nodiscard]] const T* find_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return std::get_if<T>(&attribute.value);
  }
  return nullptr;
}

}  // namespace lowtide
