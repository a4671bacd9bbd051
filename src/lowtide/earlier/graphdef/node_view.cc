// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/node_view.h"

#include <algorithm>
#include <bit>

#include "lowtide/earlier/graphdef/data_types.h"
#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/node_list.h"

namespace lowtide::graphdef_internal {

NodeView::NodeView(const ProtoMessage& node)
    : name_(find_text(node, node_field::kName).value_or("")),
      op_(find_text(node, node_field::kOp).value_or("")),
      device_(find_text(node, node_field::kDevice).value_or("")),
      inputs_(texts_of(node, node_field::kInput)),
      entries_(messages_of(node, node_field::kAttribute)) {}

const ProtoMessage* NodeView::value(std::string_view attribute) const {
  for (const ProtoMessage* entry : entries_) {
    if (find_text(*entry, entry_field::kKey) == attribute) return find_message(*entry, entry_field::kValue);
  }
  return nullptr;
}

std::int64_t NodeView::integer(std::string_view attribute, std::int64_t otherwise) const {
  const ProtoMessage* found = value(attribute);
  const auto number = found == nullptr ? std::nullopt : find_number(*found, value_field::kInteger);
  return number ? static_cast<std::int64_t>(*number) : otherwise;
}

double NodeView::real(std::string_view attribute, double otherwise) const {
  const ProtoMessage* found = value(attribute);
  const auto bits = found == nullptr ? std::nullopt : find_number(*found, value_field::kReal);
  return bits ? std::bit_cast<float>(static_cast<std::uint32_t>(*bits)) : otherwise;
}

bool NodeView::is_set(std::string_view attribute) const {
  const ProtoMessage* found = value(attribute);
  return found != nullptr && find_number(*found, value_field::kBoolean).value_or(0) != 0;
}

std::string_view NodeView::text(std::string_view attribute, std::string_view otherwise) const {
  const ProtoMessage* found = value(attribute);
  return found == nullptr ? otherwise : find_text(*found, value_field::kText).value_or(otherwise);
}

Extents NodeView::integers(std::string_view attribute) const {
  Extents all;
  const ProtoMessage* found = value(attribute);
  const ProtoMessage* list = found == nullptr ? nullptr : find_message(*found, value_field::kList);
  if (list == nullptr) return all;
  for (std::uint64_t one : numbers_of(*list, value_field::kInteger)) all.push_back(static_cast<std::int64_t>(one));
  return all;
}

std::optional<DType> NodeView::dtype(std::string_view attribute) const {
  const ProtoMessage* found = value(attribute);
  const auto type = found == nullptr ? std::nullopt : find_number(*found, value_field::kType);
  return type ? dtype_of(*type) : std::nullopt;
}

std::string shown_node(const NodeView& node) { return lowtide::shown_node(node.name(), node.op()); }

std::optional<DType> dtype_of(std::uint64_t data_type) {
  switch (data_type > 100 ? data_type - 100 : data_type) {
    case 1: return DType::f32;
    case 2: return DType::f64;
    case 3:
    case 13: return DType::i32;
    case 4:
    case 12: return DType::u8;
    case 5:
    case 15: return DType::i16;
    case 6:
    case 11: return DType::i8;
    case 8: return DType::c64;
    case 9: return DType::i64;
    case 10: return DType::boolean;
    case 14: return DType::bf16;
    case 16:
    case 17: return DType::u16;
    case 18: return DType::c128;
    case 19: return DType::f16;
    case 22: return DType::u32;
    case 23: return DType::u64;
    default: return std::nullopt;
  }
}

std::string unread_type(const NodeView& node) {
  for (const ProtoMessage* entry : node.entries()) {
    const ProtoMessage* value = find_message(*entry, entry_field::kValue);
    const auto type = value == nullptr ? std::nullopt : find_number(*value, value_field::kType);
    if (!type || dtype_of(*type)) continue;
    const auto* known = std::ranges::find(kDataTypes, static_cast<std::int64_t>(*type), &ProtoEnumValue::number);
    return known == kDataTypes.end() ? "DataType " + std::to_string(*type) : std::string(known->name);
  }
  return "";
}

std::int64_t data_type_of(DType dtype) {
  for (std::uint64_t type = 1; type <= 23; ++type) {
    if (dtype_of(type) == dtype) return static_cast<std::int64_t>(type);
  }
  return 0;
}

std::optional<Extents> open_extents_of(const ProtoMessage& shape) {
  if (find_number(shape, shape_field::kUnknownRank).value_or(0) != 0) return std::nullopt;
  Extents extents;
  for (const ProtoMessage* dim : messages_of(shape, shape_field::kDim)) {
    const auto extent = static_cast<std::int64_t>(find_number(*dim, shape_field::kSize).value_or(0));
    extents.push_back(extent < 0 ? kOpen : extent);
  }
  return extents;
}

std::optional<Extents> extents_of(const ProtoMessage& shape) {
  std::optional<Extents> extents = open_extents_of(shape);
  return extents && std::ranges::find(*extents, kOpen) != extents->end() ? std::nullopt : extents;
}

}  // namespace lowtide::graphdef_internal
