// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/proto/schema.h"

namespace lowtide {

const ProtoFieldSchema* find_field(const ProtoSchema& schema, std::uint32_t number) {
  for (const ProtoFieldSchema& field : schema.fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

const ProtoFieldSchema* find_field(const ProtoSchema& schema, std::string_view name) {
  for (const ProtoFieldSchema& field : schema.fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

ProtoWire wire_of(ProtoType type) {
  switch (type) {
    case ProtoType::f32: return ProtoWire::fixed32;
    case ProtoType::fixed64:
    case ProtoType::f64: return ProtoWire::fixed64;
    case ProtoType::text:
    case ProtoType::bytes:
    case ProtoType::message: return ProtoWire::bytes;
    default: return ProtoWire::varint;
  }
}

}  // namespace lowtide
