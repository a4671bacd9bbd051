// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <variant>
#include <vector>

#include "lowtide/earlier/proto/proto.h"

namespace lowtide {
namespace proto_internal {
namespace {

void write_varint(std::uint64_t value, std::string& to) {
  for (; value >= 0x80; value >>= 7U) to += static_cast<char>((value & 0x7FU) | 0x80U);
  to += static_cast<char>(value);
}

void write_tag(const ProtoField& field, std::string& to) {
  const std::uint64_t type = field.wire == ProtoWire::fixed32 ? 5 : static_cast<std::uint64_t>(field.wire);
  write_varint((std::uint64_t{field.number} << 3U) | type, to);
}

void write_number(ProtoWire wire, std::uint64_t value, std::string& to) {
  if (wire == ProtoWire::varint) return write_varint(value, to);
  const unsigned bytes = wire == ProtoWire::fixed32 ? 4 : 8;
  for (unsigned byte = 0; byte < bytes; ++byte) to += static_cast<char>((value >> (8U * byte)) & 0xFFU);
}

void write_bytes(const ProtoField& field, std::string_view bytes, std::string& to) {
  write_tag(field, to);
  write_varint(bytes.size(), to);
  to += bytes;
}

}  // namespace
}  // namespace proto_internal

// The recursion is as deep as the messages, at most kMaxProtoDepth.
std::string write_proto_binary(const ProtoMessage& message) {
  std::string to;
  for (const ProtoField& field : message.fields) {
    if (const auto* text = std::get_if<std::string>(&field.content)) {
      proto_internal::write_bytes(field, *text, to);
    } else if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(&field.content)) {
      for (std::uint64_t value : *numbers) {
        proto_internal::write_tag(field, to);
        proto_internal::write_number(field.wire, value, to);
      }
    } else if (const auto* messages = std::get_if<std::vector<ProtoMessage>>(&field.content)) {
      for (const ProtoMessage& one : *messages) proto_internal::write_bytes(field, write_proto_binary(one), to);
    }
  }
  return to;
}

}  // namespace lowtide
