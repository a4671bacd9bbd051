// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/proto/message.h"

#include <utility>

namespace lowtide {
namespace {

// Calls `visit` with the content of each field of this number and kind.
template <typename Content, typename Message, typename Visit>
void for_each_content(Message& message, std::uint32_t number, const Visit& visit) {
  for (auto& field : message.fields) {
    if (field.number != number) continue;
    if (auto* content = std::get_if<Content>(&field.content)) visit(*content);
  }
}

}  // namespace

std::optional<std::string_view> find_text(const ProtoMessage& message, std::uint32_t number) {
  std::optional<std::string_view> found;
  for_each_content<std::string>(message, number, [&](const std::string& text) { found = text; });
  return found;
}

std::optional<std::uint64_t> find_number(const ProtoMessage& message, std::uint32_t number) {
  std::optional<std::uint64_t> found;
  for_each_content<std::vector<std::uint64_t>>(message, number, [&](const std::vector<std::uint64_t>& numbers) {
    if (!numbers.empty()) found = numbers.back();
  });
  return found;
}

const ProtoMessage* find_message(const ProtoMessage& message, std::uint32_t number) {
  const ProtoMessage* found = nullptr;
  for_each_content<std::vector<ProtoMessage>>(message, number, [&](const std::vector<ProtoMessage>& messages) {
    if (!messages.empty()) found = &messages.back();
  });
  return found;
}

std::vector<std::string_view> texts_of(const ProtoMessage& message, std::uint32_t number) {
  std::vector<std::string_view> all;
  for_each_content<std::string>(message, number, [&](const std::string& text) { all.emplace_back(text); });
  return all;
}

std::vector<std::uint64_t> numbers_of(const ProtoMessage& message, std::uint32_t number) {
  std::vector<std::uint64_t> all;
  for_each_content<std::vector<std::uint64_t>>(message, number, [&](const std::vector<std::uint64_t>& numbers) {
    all.insert(all.end(), numbers.begin(), numbers.end());
  });
  return all;
}

std::vector<const ProtoMessage*> messages_of(const ProtoMessage& message, std::uint32_t number) {
  std::vector<const ProtoMessage*> all;
  for_each_content<std::vector<ProtoMessage>>(message, number, [&](const std::vector<ProtoMessage>& messages) {
    for (const ProtoMessage& one : messages) all.push_back(&one);
  });
  return all;
}

std::vector<ProtoMessage*> messages_of(ProtoMessage& message, std::uint32_t number) {
  std::vector<ProtoMessage*> all;
  for_each_content<std::vector<ProtoMessage>>(message, number, [&](std::vector<ProtoMessage>& messages) {
    for (ProtoMessage& one : messages) all.push_back(&one);
  });
  return all;
}

void edit_texts(ProtoMessage& message, std::uint32_t number, const std::function<void(std::string&)>& edit) {
  for_each_content<std::string>(message, number, edit);
}

void add_text(ProtoMessage& message, std::uint32_t number, std::string text) {
  message.fields.push_back({.number = number, .wire = ProtoWire::bytes, .content = std::move(text)});
}

ProtoMessage& add_message(ProtoMessage& message, std::uint32_t number, ProtoMessage value) {
  std::vector<ProtoMessage>* list = nullptr;
  if (!message.fields.empty() && message.fields.back().number == number) {
    list = std::get_if<std::vector<ProtoMessage>>(&message.fields.back().content);
  }
  if (list == nullptr) {
    message.fields.push_back({.number = number, .wire = ProtoWire::bytes, .content = std::vector<ProtoMessage>()});
    list = std::get_if<std::vector<ProtoMessage>>(&message.fields.back().content);
  }
  list->push_back(std::move(value));
  return list->back();
}

void remove_field(ProtoMessage& message, std::uint32_t number) {
  std::erase_if(message.fields, [&](const ProtoField& field) { return field.number == number; });
}

}  // namespace lowtide
