// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/node_attributes.h"

#include <algorithm>
#include <utility>

#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/node_view.h"

namespace lowtide {
namespace {

namespace entry_field = graphdef_internal::entry_field;
namespace shape_field = graphdef_internal::shape_field;
namespace value_field = graphdef_internal::value_field;

ProtoField varint_field(std::uint32_t number, std::uint64_t value) {
  return {.number = number, .wire = ProtoWire::varint, .content = std::vector<std::uint64_t>{value}};
}

void replace_attribute(DefNode& node, std::string_view key, ProtoMessage value) {
  std::erase_if(node.attributes, [&](const ProtoMessage& entry) { return find_text(entry, entry_field::kKey) == key; });
  ProtoMessage entry;
  add_text(entry, entry_field::kKey, std::string(key));
  add_message(entry, entry_field::kValue, std::move(value));
  node.attributes.push_back(std::move(entry));
}

void set_number(DefNode& node, std::string_view key, std::uint32_t field, std::uint64_t number) {
  ProtoMessage value;
  value.fields.push_back(varint_field(field, number));
  replace_attribute(node, key, std::move(value));
}

}  // namespace

bool has_attribute(const DefNode& node, std::string_view key) {
  return std::ranges::any_of(node.attributes,
                             [&](const ProtoMessage& entry) { return find_text(entry, entry_field::kKey) == key; });
}

const ProtoMessage* attribute_value(const DefNode& node, std::string_view key) {
  for (const ProtoMessage& entry : node.attributes) {
    if (find_text(entry, entry_field::kKey) == key) return find_message(entry, entry_field::kValue);
  }
  return nullptr;
}

std::optional<std::string> attribute_text(const DefNode& node, std::string_view key) {
  const ProtoMessage* value = attribute_value(node, key);
  const auto text = value == nullptr ? std::nullopt : find_text(*value, value_field::kText);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::optional<std::int64_t> attribute_type(const DefNode& node, std::string_view key) {
  const ProtoMessage* value = attribute_value(node, key);
  const auto type = value == nullptr ? std::nullopt : find_number(*value, value_field::kType);
  return type ? std::optional(static_cast<std::int64_t>(*type)) : std::nullopt;
}

std::vector<std::int64_t> attribute_integers(const DefNode& node, std::string_view key) {
  std::vector<std::int64_t> all;
  const ProtoMessage* value = attribute_value(node, key);
  if (value == nullptr) return all;
  if (const ProtoMessage* list = find_message(*value, value_field::kList)) {
    for (std::uint64_t one : numbers_of(*list, value_field::kInteger)) all.push_back(static_cast<std::int64_t>(one));
  } else if (const auto one = find_number(*value, value_field::kInteger)) {
    all.push_back(static_cast<std::int64_t>(*one));
  }
  return all;
}

std::optional<std::vector<std::int64_t>> attribute_shape(const DefNode& node, std::string_view key) {
  const ProtoMessage* value = attribute_value(node, key);
  const ProtoMessage* shape = value == nullptr ? nullptr : find_message(*value, value_field::kShape);
  return shape == nullptr ? std::nullopt : graphdef_internal::extents_of(*shape);
}

bool is_attribute_list(const DefNode& node, std::string_view key) {
  const ProtoMessage* value = attribute_value(node, key);
  return value != nullptr && find_message(*value, value_field::kList) != nullptr;
}

bool is_attribute_true(const DefNode& node, std::string_view key) {
  const ProtoMessage* value = attribute_value(node, key);
  return value != nullptr && find_number(*value, value_field::kBoolean).value_or(0) != 0;
}

void set_boolean(DefNode& node, std::string_view key, bool value) {
  set_number(node, key, value_field::kBoolean, value ? 1 : 0);
}

void set_true(DefNode& node, std::string_view key) { set_boolean(node, key, true); }

void set_type(DefNode& node, std::string_view key, std::int64_t data_type) {
  set_number(node, key, value_field::kType, static_cast<std::uint64_t>(data_type));
}

void set_text(DefNode& node, std::string_view key, std::string text) {
  ProtoMessage value;
  add_text(value, value_field::kText, std::move(text));
  replace_attribute(node, key, std::move(value));
}

void set_shape(DefNode& node, std::string_view key, const std::vector<std::int64_t>& extents) {
  ProtoMessage shape;
  for (std::int64_t extent : extents) {
    ProtoMessage dim;
    dim.fields.push_back(varint_field(shape_field::kSize, static_cast<std::uint64_t>(extent)));
    add_message(shape, shape_field::kDim, std::move(dim));
  }
  ProtoMessage value;
  add_message(value, value_field::kShape, std::move(shape));
  replace_attribute(node, key, std::move(value));
}

void set_integers(DefNode& node, std::string_view key, const std::vector<std::int64_t>& list) {
  ProtoMessage integers;
  for (std::int64_t one : list) {
    integers.fields.push_back(varint_field(value_field::kInteger, static_cast<std::uint64_t>(one)));
  }
  ProtoMessage value;
  add_message(value, value_field::kList, std::move(integers));
  replace_attribute(node, key, std::move(value));
}

void add_to_list(DefNode& node, std::string_view key, std::string text) {
  ProtoMessage list;
  if (const ProtoMessage* value = attribute_value(node, key)) {
    if (const ProtoMessage* known = find_message(*value, value_field::kList)) list = *known;
  }
  add_text(list, value_field::kText, std::move(text));
  ProtoMessage value;
  add_message(value, value_field::kList, std::move(list));
  replace_attribute(node, key, std::move(value));
}

void remove_regular_attributes(DefNode& node) {
  std::erase_if(node.attributes, [](const ProtoMessage& entry) {
    return !find_text(entry, entry_field::kKey).value_or("").starts_with('_');
  });
}

}  // namespace lowtide
