// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/lists.h"

#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide::kernels_internal {
namespace {

const AttributeValue* list_value_of(const Node& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name == name) return &attribute.value;
  }
  return nullptr;
}

Error not_a_list(std::string_view name, const char* of) {
  return {ErrorCode::unsupported, "attribute " + quoted(name) + " is not a list of " + of + " in the model file", ""};
}

Result<std::vector<double>> reals_of(std::string_view name, const AttributeValue& value) {
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) return *reals;
  if (const auto* real = std::get_if<double>(&value)) return std::vector<double>{*real};
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::vector{static_cast<double>(*integer)};
  const auto* integers = std::get_if<std::vector<std::int64_t>>(&value);
  if (integers == nullptr) return not_a_list(name, "numbers");
  return std::vector<double>(integers->begin(), integers->end());
}

}  // namespace

Result<std::vector<double>> reals_in(const Node& node, std::string_view name) {
  const AttributeValue* list = list_value_of(node, name);
  if (list == nullptr) return std::vector<double>();
  return reals_of(name, *list);
}

Result<std::vector<double>> reals_or_tensor_in(const Node& node, std::string_view name) {
  const std::string tensor_name = std::string(name) + "_as_tensor";
  const AttributeValue* tensor = list_value_of(node, tensor_name);
  LOWTIDE_TRY(std::vector<double> reals, reals_in(node, name));
  if (tensor == nullptr) return reals;
  if (!reals.empty()) {
    return Error{
        ErrorCode::invalid,
        "attributes " + quoted(name) + " and " + quoted(tensor_name) + " are both present; one must be left out", ""};
  }
  return reals_of(tensor_name, *tensor);
}

Result<std::vector<std::int64_t>> integers_in(const Node& node, std::string_view name) {
  const AttributeValue* value = list_value_of(node, name);
  if (value == nullptr) return std::vector<std::int64_t>();
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(value)) return *integers;
  if (const auto* integer = std::get_if<std::int64_t>(value)) return std::vector<std::int64_t>{*integer};
  return not_a_list(name, "integers");
}

std::int64_t numbers_in(const Node& node, std::string_view name) {
  const AttributeValue* value = list_value_of(node, name);
  if (value == nullptr) return 0;
  if (const auto* reals = std::get_if<std::vector<double>>(value)) return static_cast<std::int64_t>(reals->size());
  const auto* integers = std::get_if<std::vector<std::int64_t>>(value);
  return integers == nullptr ? 1 : static_cast<std::int64_t>(integers->size());
}

std::vector<std::string> texts_in(const Node& node, std::string_view name) {
  const auto* texts = find_attribute<std::vector<std::string>>(node.attributes, name);
  return texts == nullptr ? std::vector<std::string>() : *texts;
}

Result<void> check_scratch(Bytes needed, Bytes reserved) {
  if (needed <= reserved) return {};
  return Error{ErrorCode::invalid,
               "its lists need " + with_count(needed.count(), "byte") + " of scratch, and its operands and labels " +
                   std::to_string(reserved.count()),
               ""};
}

Error different_lengths(std::string_view a, std::size_t length_of_a, std::string_view b, std::size_t length_of_b) {
  const auto entries = [](std::size_t length) {
    return std::to_string(length) + (length == 1 ? " entry" : " entries");
  };
  return {
      ErrorCode::invalid,
      "attribute " + quoted(a) + " has " + entries(length_of_a) + ", and " + quoted(b) + " has " + entries(length_of_b),
      ""};
}

}  // namespace lowtide::kernels_internal
