// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "lowtide/earlier/proto/proto.h"
#include "lowtide/earlier/proto/text_scanner.h"

namespace lowtide {
namespace proto_internal {
namespace {

// The shortest text that is read as the same number.
template <typename Real>
std::string print_number(Real value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> text{};
  const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string value_text(const ProtoFieldSchema& field, std::uint64_t bits) {
  switch (field.type) {
    case ProtoType::f32: return print_number(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case ProtoType::f64: return print_number(std::bit_cast<double>(bits));
    case ProtoType::boolean: return bits != 0 ? "true" : "false";
    case ProtoType::uint32: return std::to_string(static_cast<std::uint32_t>(bits));
    case ProtoType::uint64:
    case ProtoType::fixed64: return std::to_string(bits);
    case ProtoType::int64: return std::to_string(static_cast<std::int64_t>(bits));
    default: break;
  }
  const auto number = static_cast<std::int32_t>(bits);
  for (const ProtoEnumValue& value : field.values) {
    if (value.number == number) return std::string(value.name);
  }
  return std::to_string(number);
}

class TextWriter {
 public:
  Result<std::string> write(const ProtoSchema& schema, const ProtoMessage& message) && {
    write_message(schema, message, "");
    if (error_) return *error_;
    return std::move(text_);
  }

 private:
  void write_message(const ProtoSchema& schema, const ProtoMessage& message, const std::string& indent);
  void write_field(const ProtoFieldSchema& schema, const ProtoField& field, const std::string& indent);

  std::string text_;
  std::optional<Error> error_;
};

// The recursion is as deep as the messages, at most kMaxProtoDepth.
void TextWriter::write_message(const ProtoSchema& schema, const ProtoMessage& message, const std::string& indent) {
  for (const ProtoField& field : message.fields) {
    const ProtoFieldSchema* known = find_field(schema, field.number);
    if (known != nullptr) {
      write_field(*known, field, indent);
    } else if (!error_) {
      error_ = Error{ErrorCode::unsupported,
                     std::string(schema.name) + " has a field with the number " + std::to_string(field.number) +
                         ", whose name is not known, so the text form cannot have it; write the binary form",
                     ""};
    }
  }
}

void TextWriter::write_field(const ProtoFieldSchema& schema, const ProtoField& field, const std::string& indent) {
  const std::string begin = indent + std::string(schema.name);
  if (const auto* text = std::get_if<std::string>(&field.content)) {
    text_ += begin + ": \"" + escape_proto(*text) + "\"\n";
  } else if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(&field.content)) {
    for (std::uint64_t bits : *numbers) text_ += begin + ": " + value_text(schema, bits) + "\n";
  } else if (const auto* messages = std::get_if<std::vector<ProtoMessage>>(&field.content)) {
    for (const ProtoMessage& one : *messages) {
      text_ += begin + " {\n";
      write_message(*schema.message, one, indent + "  ");
      text_ += indent + "}\n";
    }
  }
}

}  // namespace
}  // namespace proto_internal

Result<std::string> write_proto_text(const ProtoSchema& schema, const ProtoMessage& message) {
  return proto_internal::TextWriter().write(schema, message);
}

}  // namespace lowtide
