// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/toml_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"

namespace lowtide::target_internal {
namespace {

constexpr std::size_t kMostShown = 40;

std::string shortest(double number) {
  std::array<char, 32> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return std::string(digits.data(), end);
}

std::string type_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "the text " + quoted(node.as_string()->get(), kMostShown);
    case toml::node_type::integer: return "the integer " + std::to_string(node.as_integer()->get());
    case toml::node_type::floating_point: return "the real " + shortest(node.as_floating_point()->get());
    case toml::node_type::boolean: return node.as_boolean()->get() ? "true" : "false";
    default: return "a date or time";
  }
}

}  // namespace

void TomlErrors::refuse(const toml::source_position& at, std::string message, ErrorCode code) {
  if (first_) return;
  first_ =
      Error{code, std::move(message), source_name_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column)};
}

TomlTable::TomlTable(const toml::table& table, std::string what, std::initializer_list<std::string_view> keys,
                     TomlErrors& errors)
    : table_(table), what_(std::move(what)), errors_(errors) {
  for (const auto& [key, node] : table) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    errors_.refuse(key.source().begin,
                   what_ + ": unknown key " + quoted(key.str(), kMostShown) + "; the keys here are " + listed(keys));
  }
}

toml::source_position TomlTable::place_of(std::string_view key) const {
  const toml::node* node = table_.get(key);
  return node != nullptr ? node->source().begin : table_.source().begin;
}

void TomlTable::refuse(std::string_view key, const std::string& message) const {
  refuse_at(place_of(key), key, message);
}

void TomlTable::refuse_at(const toml::source_position& at, std::string_view key, const std::string& message) const {
  errors_.refuse(at, what_ + ": " + std::string(key) + " " + message);
}

std::string TomlTable::name_of(const toml::node& node, std::string_view key) const {
  const toml::source_position at = node.source().begin;
  const auto* text = node.as_string();
  if (text == nullptr) {
    refuse_at(at, key, "should be a text in quotes, not " + type_of(node));
  } else if (text->get().empty()) {
    refuse_at(at, key, "is empty");
  } else if (static_cast<std::int64_t>(text->get().size()) > limits::kMaxNameBytes) {
    refuse_at(at, key,
              "of " + std::to_string(text->get().size()) + " bytes is above the limit of " +
                  std::to_string(limits::kMaxNameBytes) + " (kMaxNameBytes)");
  } else {
    return text->get();
  }
  return {};
}

std::string TomlTable::name(std::string_view key) const {
  const toml::node* node = table_.get(key);
  if (node != nullptr) return name_of(*node, key);
  refuse(key, "is missing");
  return {};
}

std::vector<TomlText> TomlTable::names(std::string_view key) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    refuse(key, "should be a list of names such as [\"sram\", \"dram\"], not " + type_of(*node));
    return {};
  }
  std::vector<TomlText> names;
  for (const toml::node& element : *array) names.push_back({name_of(element, key), element.source().begin});
  return names;
}

Bytes TomlTable::bytes(std::string_view key, Bytes fallback, std::int64_t least, std::int64_t most,
                       std::string_view way_out) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return fallback;
  std::optional<Bytes> size;
  if (const auto* number = node->as_integer()) size = Bytes(number->get());
  if (const auto* text = node->as_string()) size = parse_bytes(text->get());
  if (!size) {
    refuse(key,
           "should be a number of bytes such as 4096 or \"256KiB\" (B, KiB, MiB, GiB, TiB), not " + type_of(*node));
  } else if (size->count() < least || size->count() > most) {
    refuse(key, "is " + std::to_string(size->count()) + " and should be from " + std::to_string(least) + " to " +
                    std::to_string(most) + " bytes" + std::string(way_out));
  } else {
    return *size;
  }
  return fallback;
}

std::int64_t TomlTable::integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                                std::int64_t most) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return fallback;
  const auto* number = node->as_integer();
  if (number != nullptr && number->get() >= least && number->get() <= most) return number->get();
  refuse(key, "should be an integer from " + std::to_string(least) + " to " + std::to_string(most) + ", not " +
                  type_of(*node));
  return fallback;
}

double TomlTable::real(std::string_view key, std::optional<double> fallback, double least, double most) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) {
    if (!fallback) refuse(key, "is missing");
    return fallback.value_or(least);
  }
  const std::optional<double> number = node->is_number() ? node->value<double>() : std::nullopt;
  if (number && std::isfinite(*number) && *number >= least && *number <= most) return *number;
  refuse(key, "should be a number from " + shortest(least) + " to " + shortest(most) + ", not " + type_of(*node));
  return least;
}

bool TomlTable::boolean(std::string_view key, bool fallback) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return fallback;
  if (const auto* truth = node->as_boolean()) return truth->get();
  refuse(key, "should be true or false, not " + type_of(*node));
  return fallback;
}

std::vector<const toml::table*> TomlTable::tables(std::string_view key) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    refuse(key, "should be written [[" + std::string(key) + "]], once per " + std::string(key) + ", not as " +
                    type_of(*node));
    return {};
  }
  std::vector<const toml::table*> tables;
  for (const toml::node& element : *array) {
    if (!element.is_table()) {
      errors_.refuse(element.source().begin, std::string(key) + " " + std::to_string(tables.size()) +
                                                 " should be a table, not " + type_of(element));
      return {};
    }
    tables.push_back(element.as_table());
  }
  return tables;
}

}  // namespace lowtide::target_internal
