// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lowtide/earlier/proto/message.h"

namespace lowtide {

enum class ProtoType : std::uint8_t {
  int32,
  int64,
  uint32,
  uint64,
  fixed64,  // without a sign
  boolean,
  enumeration,
  f32,
  f64,
  text,
  bytes,
  message
};

struct ProtoSchema;

struct ProtoEnumValue {
  std::string_view name;
  std::int32_t number = 0;
};

struct ProtoFieldSchema {
  std::uint32_t number = 0;
  std::string_view name;  // in the text form
  ProtoType type = ProtoType::bytes;
  bool is_repeated = false;
  const ProtoSchema* message = nullptr;         // for type message
  std::span<const ProtoEnumValue> values = {};  // for type enumeration
};

// The fields of one message type of a format. The binary form can be read without it, except that it says which values
// are messages.
struct ProtoSchema {
  std::string_view name;
  std::span<const ProtoFieldSchema> fields;
};

// nullptr if there is no such field. O(fields).
[[nodiscard]] const ProtoFieldSchema* find_field(const ProtoSchema& schema, std::uint32_t number);
[[nodiscard]] const ProtoFieldSchema* find_field(const ProtoSchema& schema, std::string_view name);

// How the binary form writes a single value of this type.
[[nodiscard]] ProtoWire wire_of(ProtoType type);

}  // namespace lowtide
