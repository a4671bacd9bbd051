// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <utility>

#include "lowtide/earlier/proto/parsed_size.h"
#include "lowtide/earlier/proto/proto.h"

namespace lowtide {
namespace proto_internal {
namespace {

constexpr int kGroupBegin = 3;
constexpr int kGroupEnd = 4;

class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}

  Result<ProtoMessage> read(const ProtoSchema& schema) && {
    ProtoMessage message;
    if (!read_message(schema, bytes_.size(), 0, message)) return *std::move(error_);
    return message;
  }

 private:
  bool fail(std::string message, ErrorCode code = ErrorCode::malformed) {
    error_ = Error{code, std::move(message), "byte " + std::to_string(at_)};
    return false;
  }
  bool read_message(const ProtoSchema& schema, std::size_t end, int depth, ProtoMessage& to);
  bool read_field(const ProtoSchema& schema, std::size_t end, int depth, ProtoMessage& to);
  bool read_varint(std::size_t end, std::string_view what, std::uint64_t& value);
  bool read_fixed(std::size_t end, int bytes, std::uint64_t& value);
  bool read_length(std::size_t end, std::string_view name, std::size_t& inner_end);
  bool read_packed(const ProtoFieldSchema& field, std::size_t end, ProtoMessage& to);
  bool read_number(ProtoWire wire, std::size_t end, std::uint64_t& value);

  std::string_view bytes_;
  ParsedSize size_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

bool BinaryReader::read_message(const ProtoSchema& schema, std::size_t end, int depth, ProtoMessage& to) {
  if (depth > kMaxProtoDepth) {
    return fail("messages are nested more than " + std::to_string(kMaxProtoDepth) + " deep (kMaxProtoDepth)",
                ErrorCode::over_limit);
  }
  while (at_ < end) {
    if (!read_field(schema, end, depth, to)) return false;
    if (size_.is_over()) {
      error_ = size_.error("byte " + std::to_string(at_));
      return false;
    }
  }
  to.fields.shrink_to_fit();
  return true;
}

// A field of a known name and type must have its own wire type, or be a packed list of its numbers.
bool BinaryReader::read_field(const ProtoSchema& schema, std::size_t end, int depth, ProtoMessage& to) {
  const std::size_t begin = at_;
  std::uint64_t tag = 0;
  if (!read_varint(end, "a tag", tag)) return false;
  const std::uint64_t number = tag >> 3U;
  const int type = static_cast<int>(tag & 7U);
  at_ = type > 5 || type == kGroupBegin || type == kGroupEnd || number == 0 || number > 0x1FFFFFFF ? begin : at_;
  if (at_ == begin) {
    return fail("field " + std::to_string(number) + " of " + std::string(schema.name) + " has wire type " +
                std::to_string(type) + ", which no field of this format has");
  }
  const ProtoWire wire = type == 5 ? ProtoWire::fixed32 : static_cast<ProtoWire>(type);
  const auto id = static_cast<std::uint32_t>(number);
  const ProtoFieldSchema* field = find_field(schema, id);
  const std::string name = std::string(schema.name) + "." + (field ? std::string(field->name) : std::to_string(number));
  if (wire != ProtoWire::bytes) {
    if (field != nullptr && wire_of(field->type) != wire) {
      at_ = begin;
      return fail("the field " + name + " has wire type " + std::to_string(type) + ", which its type does not have");
    }
    std::uint64_t value = 0;
    if (!read_number(wire, end, value)) return false;
    size_.add_number(to, id, wire, field == nullptr || field->is_repeated, value);
    return true;
  }
  std::size_t inner_end = 0;
  if (!read_length(end, name, inner_end)) return false;
  if (field != nullptr && field->type == ProtoType::message) {
    return read_message(*field->message, inner_end, depth + 1, size_.open_message(to, *field));
  }
  if (field != nullptr && wire_of(field->type) != ProtoWire::bytes) {
    if (field->is_repeated) return read_packed(*field, inner_end, to);
    at_ = begin;
    return fail("the field " + name + " has wire type 2, but is a single number");
  }
  size_.add_text(to, id, std::string(bytes_.substr(at_, inner_end - at_)));
  at_ = inner_end;
  return true;
}

bool BinaryReader::read_packed(const ProtoFieldSchema& field, std::size_t end, ProtoMessage& to) {
  while (at_ < end) {
    std::uint64_t value = 0;
    if (!read_number(wire_of(field.type), end, value)) return false;
    size_.add_number(to, field.number, wire_of(field.type), true, value);
  }
  return true;
}

bool BinaryReader::read_number(ProtoWire wire, std::size_t end, std::uint64_t& value) {
  if (wire == ProtoWire::varint) return read_varint(end, "a number", value);
  return read_fixed(end, wire == ProtoWire::fixed32 ? 4 : 8, value);
}

bool BinaryReader::read_varint(std::size_t end, std::string_view what, std::uint64_t& value) {
  value = 0;
  const std::size_t begin = at_;
  for (unsigned shift = 0; shift < 70 && at_ < end; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  at_ = begin;
  return fail(std::string(what) + " is cut off or longer than 10 bytes");
}

bool BinaryReader::read_fixed(std::size_t end, int bytes, std::uint64_t& value) {
  if (end - at_ < static_cast<std::size_t>(bytes))
    return fail("a number of " + std::to_string(bytes) + " bytes is cut off");
  value = 0;
  for (int byte = 0; byte < bytes; ++byte) {
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes_[at_++])) << (8U * static_cast<unsigned>(byte));
  }
  return true;
}

bool BinaryReader::read_length(std::size_t end, std::string_view name, std::size_t& inner_end) {
  std::uint64_t length = 0;
  if (!read_varint(end, "a length", length)) return false;
  if (length > end - at_) {
    return fail("the field " + std::string(name) + " has length " + std::to_string(length) + ", but only " +
                std::to_string(end - at_) + " bytes are left");
  }
  inner_end = at_ + static_cast<std::size_t>(length);
  return true;
}

}  // namespace
}  // namespace proto_internal

Result<ProtoMessage> read_proto_binary(const ProtoSchema& schema, std::string_view bytes) {
  return proto_internal::BinaryReader(bytes).read(schema);
}

}  // namespace lowtide
