// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/earlier/graphdef/node_list.h"

// Reads and writes the attributes of a node. Each call takes time linear in the number of attributes.
namespace lowtide {

[[nodiscard]] bool has_attribute(const DefNode& node, std::string_view key);

// nullptr: the node has no such attribute.
[[nodiscard]] const ProtoMessage* attribute_value(const DefNode& node, std::string_view key);

// nullopt: the node has no such attribute, or it is of another kind.
[[nodiscard]] std::optional<std::string> attribute_text(const DefNode& node, std::string_view key);
[[nodiscard]] std::optional<std::int64_t> attribute_type(const DefNode& node, std::string_view key);

// The integers of a list, or the one number.
[[nodiscard]] std::vector<std::int64_t> attribute_integers(const DefNode& node, std::string_view key);
// A shape with unknown extents as -1. nullopt: there is none, or its rank is unknown.
[[nodiscard]] std::optional<std::vector<std::int64_t>> attribute_shape(const DefNode& node, std::string_view key);
// Whether the attribute is a list, even an empty one.
[[nodiscard]] bool is_attribute_list(const DefNode& node, std::string_view key);
[[nodiscard]] bool is_attribute_true(const DefNode& node, std::string_view key);

// These replace an attribute, whatever it was.
void set_true(DefNode& node, std::string_view key);
void set_boolean(DefNode& node, std::string_view key, bool value);
void set_type(DefNode& node, std::string_view key, std::int64_t data_type);
void set_text(DefNode& node, std::string_view key, std::string text);
void set_shape(DefNode& node, std::string_view key, const std::vector<std::int64_t>& extents);

void set_integers(DefNode& node, std::string_view key, const std::vector<std::int64_t>& list);

// Adds a text to the attribute, which becomes a list of texts if it was none.
void add_to_list(DefNode& node, std::string_view key, std::string text);

// Removes the attributes that do not begin with "_".
void remove_regular_attributes(DefNode& node);

}  // namespace lowtide
