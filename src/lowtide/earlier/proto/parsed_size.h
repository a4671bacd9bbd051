// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/earlier/proto/schema.h"

namespace lowtide::proto_internal {

// Adds values to messages, and counts the memory of the parsed form against a limit: few bytes may need much of it.
class ParsedSize {
 public:
  explicit ParsedSize(std::size_t input_bytes) : most_((std::size_t{32} << 20) + 12 * input_bytes) {}

  [[nodiscard]] bool is_over() const { return used_ > most_; }
  [[nodiscard]] Error error(std::string place) const {
    return Error{ErrorCode::over_limit,
                 "the parsed form needs more than " + std::to_string(most_) + " bytes (32 MB + 12 x the input)",
                 std::move(place)};
  }

  // A number of a field. `joins`: it may stand in one field with the numbers before it.
  void add_number(ProtoMessage& to, std::uint32_t number, ProtoWire wire, bool joins, std::uint64_t value) {
    if (joins && !to.fields.empty() && to.fields.back().number == number && to.fields.back().wire == wire) {
      if (auto* numbers = std::get_if<std::vector<std::uint64_t>>(&to.fields.back().content)) {
        used_ += 3 * sizeof(std::uint64_t);
        numbers->push_back(value);
        return;
      }
    }
    used_ += field_bytes(to) + sizeof(std::uint64_t);
    to.fields.push_back({.number = number, .wire = wire, .content = std::vector<std::uint64_t>{value}});
  }

  void add_text(ProtoMessage& to, std::uint32_t number, std::string text) {
    used_ += field_bytes(to) + (text.size() > 15 ? text.size() : 0);
    lowtide::add_text(to, number, std::move(text));
  }

  // The message into which the next value of a field is read. A field that is not repeated has one message, to which
  // later values add.
  ProtoMessage& open_message(ProtoMessage& to, const ProtoFieldSchema& field) {
    used_ += sizeof(ProtoField) + 3 * sizeof(ProtoMessage);
    if (field.is_repeated) return lowtide::add_message(to, field.number, {});
    // The place of a message that is there already is looked up, so that many parts of it take linear time. A place of
    // an earlier message at this address is recognized by its content.
    std::size_t& place = places_[(std::bit_cast<std::uintptr_t>(&to) / alignof(ProtoMessage) + field.number) % kPlaces];
    if (ProtoMessage* known = message_at(to, place, field.number)) return *known;
    for (std::size_t at = 0; at < to.fields.size(); ++at) {
      if (ProtoMessage* found = message_at(to, at, field.number)) {
        place = at;
        return *found;
      }
    }
    place = to.fields.size();
    return lowtide::add_message(to, field.number, {});
  }

 private:
  static constexpr std::size_t kPlaces = 256;

  // nullptr if there is another field at this place.
  static ProtoMessage* message_at(ProtoMessage& in, std::size_t place, std::uint32_t number) {
    if (place >= in.fields.size() || in.fields[place].number != number) return nullptr;
    auto* messages = std::get_if<std::vector<ProtoMessage>>(&in.fields[place].content);
    return messages == nullptr || messages->empty() ? nullptr : &messages->back();
  }

  // A long list is there up to three times while it grows: its elements, and room for twice as many.
  static std::size_t field_bytes(const ProtoMessage& to) {
    return to.fields.size() < 1024 ? sizeof(ProtoField) : 3 * sizeof(ProtoField);
  }

  std::size_t most_;
  std::size_t used_ = 0;
  std::array<std::size_t, kPlaces> places_ = {};
};

}  // namespace lowtide::proto_internal
