// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sstream>
#include <string>

// The values of attributes in recorded answers of TensorFlow.
namespace lowtide::testing {

// The parts of a list, with text before and after each of them.
inline std::string joined_parts(const std::string& list, char separator, const std::string& before,
                                const std::string& after) {
  std::string all;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, separator);) all += before + part + after;
  return all;
}

// "2x1:4,5", or without numbers "2x1:", which are zeros then.
inline std::string tensor_text(const std::string& text, const std::string& type) {
  const std::size_t colon = text.find(':');
  const std::string shape = text.substr(0, colon);
  const std::string numbers = type == "9" ? "int64_val: " : "int_val: ";
  return "tensor { dtype: " + type + " tensor_shape { " +
         (shape == "scalar" ? "" : joined_parts(shape, 'x', "dim { size: ", " } ")) + "} " +
         joined_parts(text.substr(colon + 1), ',', numbers, " ") + "}";
}

// "#1", "1x2", "[1,2]", "[#1,#3]", "true", "\"x\"", "@2:1,2" or "3", as a value in the text form of a GraphDef.
// `type` is that of a tensor.
inline std::string value_text(const std::string& key, const std::string& text, const std::string& type = "3") {
  if (text.starts_with('#')) return "type: " + text.substr(1);
  if (text.starts_with("[#")) {
    std::string numbers;
    for (const char one : text.substr(1, text.size() - 2)) numbers += one == '#' ? "" : std::string(1, one);
    return "list { " + joined_parts(numbers, ',', "type: ", " ") + "}";
  }
  if (text.starts_with('[')) return "list { " + joined_parts(text.substr(1, text.size() - 2), ',', "i: ", " ") + "}";
  if (text.starts_with('"')) return "s: " + text;
  if (text == "true" || text == "false") return "b: " + text;
  if (text.starts_with('@')) return tensor_text(text.substr(1), type);
  if (key == "shape") return "shape { " + joined_parts(text, 'x', "dim { size: ", " } ") + "}";
  return (text.find('.') == std::string::npos ? "i: " : "f: ") + text;
}

}  // namespace lowtide::testing
