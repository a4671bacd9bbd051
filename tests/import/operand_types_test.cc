// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/operand_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide {
namespace {

using Parameters = std::vector<onnx::OpSchema::FormalParameter>;

const std::map<char, std::set<std::string>> kClasses{
    {'l', {"tensor(int64)"}},
    {'n', {"tensor(int32)"}},
    {'i', {"tensor(int64)", "tensor(int32)"}},
    {'f', {"tensor(float)"}},
    {'r',
     {"tensor(float)", "tensor(double)", "tensor(float16)", "tensor(bfloat16)", "tensor(float8e8m0)",
      "tensor(float8e4m3fn)", "tensor(float8e4m3fnuz)", "tensor(float8e5m2)", "tensor(float8e5m2fnuz)"}},
    {'b', {"tensor(bool)"}},
};

// One letter per parameter of the schema.
std::string letters_of(std::string_view side, std::size_t parameters) {
  std::string letters;
  for (std::size_t at = 0; letters.size() < parameters;) {
    if (at >= side.size()) {
      letters += '?';
    } else if (at + 1 < side.size() && side[at + 1] == '*') {
      letters += side[at];
    } else {
      letters += side[at++];
    }
  }
  return letters;
}

struct Place {
  char letter;
  const onnx::OpSchema::FormalParameter* parameter;
};

std::vector<Place> places_of(const onnx::OpSchema& schema) {
  const std::string_view types = *operand_types(schema.Name());
  const std::size_t arrow = types.find('>');
  std::vector<Place> places;
  const auto add = [&](std::string_view side, const Parameters& parameters) {
    const std::string letters = letters_of(side, parameters.size());
    for (std::size_t at = 0; at < parameters.size(); ++at) places.push_back({letters[at], &parameters[at]});
  };
  add(types.substr(0, arrow), schema.inputs());
  add(types.substr(arrow + 1), schema.outputs());
  return places;
}

std::string text_of(const onnx::OpSchema& schema) {
  return schema.Name() + " of opset " + std::to_string(schema.since_version());
}

// Every node that the schema allows is allowed.
void expect_not_too_strict(const onnx::OpSchema& schema) {
  std::map<char, std::string> shared;
  for (const auto& [letter, parameter] : places_of(schema)) {
    if (letter == '?') continue;
    const auto is_class = kClasses.find(letter);
    if (is_class == kClasses.end()) {
      const auto [first, is_new] = shared.try_emplace(letter, parameter->GetTypeStr());
      EXPECT_EQ(first->second, parameter->GetTypeStr()) << text_of(schema) << ", " << parameter->GetName();
      continue;
    }
    for (const std::string* type : parameter->GetTypes()) {
      EXPECT_TRUE(is_class->second.contains(*type)) << text_of(schema) << ", " << parameter->GetName() << ": " << *type;
    }
  }
}

// These have an operand of any type, because opset 1 gave it another one than later opsets do.
const std::set<std::string> kOfTwoTypes{"Dropout", "Split", "Tile"};

// Operands of one type of the schema have one letter.
void expect_strict(const onnx::OpSchema& schema) {
  std::map<std::string, char> letters;
  for (const auto& [letter, parameter] : places_of(schema)) {
    if (letter == '?' && kOfTwoTypes.contains(schema.Name())) continue;
    const auto [first, is_new] = letters.try_emplace(parameter->GetTypeStr(), letter);
    EXPECT_EQ(first->second, letter) << text_of(schema) << ", " << parameter->GetName();
  }
}

TEST(OperandTypes, AreThoseOfTheSchemasOfOnnx) {
  int rows = 0;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
    if (!schema.domain().empty() || !operand_types(schema.Name())) continue;
    ++rows;
    expect_not_too_strict(schema);
    expect_strict(schema);
  }
  EXPECT_GE(rows, 165);
}

TEST(OperandTypes, AllowWhatOlderOpsetsAllow) {
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.domain().empty() && operand_types(schema.Name())) expect_not_too_strict(schema);
  }
}

}  // namespace
}  // namespace lowtide
