// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/text_values.h"

#include <string_view>

#include "lowtide/base/quote.h"
#include "lowtide/graph/text_lexer.h"

namespace lowtide::graph_internal {
namespace {

std::string print_one(std::int64_t number) { return std::to_string(number); }
std::string print_one(double number) { return print_real(number); }
std::string print_one(const std::string& text) { return escaped(text); }
std::string print_one(const OpaqueAttribute& opaque) { return "opaque " + escaped(opaque.description); }

// An empty list has no element that shows its type, so its type is printed instead.
std::string_view empty_list(const std::vector<std::int64_t>&) { return "int[]"; }
std::string_view empty_list(const std::vector<double>&) { return "float[]"; }
std::string_view empty_list(const std::vector<std::string>&) { return "text[]"; }

template <typename T>
std::string print_one(const std::vector<T>& items) {
  if (items.empty()) return std::string(empty_list(items));
  std::string out = "[";
  for (const T& item : items) {
    if (out.size() > 1) out += ", ";
    out += print_one(item);
  }
  return out + "]";
}

}  // namespace

std::string print_attribute_value(const AttributeValue& value) {
  return std::visit([](const auto& content) { return print_one(content); }, value);
}

std::string print_known_integers(const std::vector<std::int64_t>& integers) {
  return integers.empty() ? std::string("[]") : print_one(integers);
}

}  // namespace lowtide::graph_internal
