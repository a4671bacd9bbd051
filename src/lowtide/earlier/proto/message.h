// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lowtide {

struct ProtoMessage;

// How the binary form writes a value.
enum class ProtoWire : std::uint8_t { varint, fixed64, bytes, fixed32 };

// The values of a field that follow one another. Numbers are bit patterns: an int32 is sign-extended, and a float is in
// the low 32 bits. Each text or bytes value has a ProtoField of its own.
struct ProtoField {
  std::uint32_t number = 0;
  ProtoWire wire = ProtoWire::varint;
  std::variant<std::vector<std::uint64_t>, std::string, std::vector<ProtoMessage>> content;
};

// A message of protocol buffers as a tree, with its fields in the order of the file. Fields that a schema does not know
// are kept as well.
//
//   type: "Relu"  input: "x"     fields {4, "Relu"}, {1, "x"}
//
// The functions below ignore fields that have another kind of content. They take time linear in the number of fields.
struct ProtoMessage {
  std::vector<ProtoField> fields;
};

// The last value of a field, because it replaces those before it. nullopt and nullptr: there is none.
[[nodiscard]] std::optional<std::string_view> find_text(const ProtoMessage& message, std::uint32_t number);
[[nodiscard]] std::optional<std::uint64_t> find_number(const ProtoMessage& message, std::uint32_t number);
[[nodiscard]] const ProtoMessage* find_message(const ProtoMessage& message, std::uint32_t number);

// All values of a field, in order. The views and pointers are valid until the message changes.
[[nodiscard]] std::vector<std::string_view> texts_of(const ProtoMessage& message, std::uint32_t number);
[[nodiscard]] std::vector<std::uint64_t> numbers_of(const ProtoMessage& message, std::uint32_t number);
[[nodiscard]] std::vector<const ProtoMessage*> messages_of(const ProtoMessage& message, std::uint32_t number);
[[nodiscard]] std::vector<ProtoMessage*> messages_of(ProtoMessage& message, std::uint32_t number);

// Calls `edit` with each text value of a field.
void edit_texts(ProtoMessage& message, std::uint32_t number, const std::function<void(std::string&)>& edit);

// Adds a value after all other fields.
void add_text(ProtoMessage& message, std::uint32_t number, std::string text);
ProtoMessage& add_message(ProtoMessage& message, std::uint32_t number, ProtoMessage value);
// Removes all values of a field.
void remove_field(ProtoMessage& message, std::uint32_t number);

}  // namespace lowtide
