// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace lowtide::testing {

// The wire format of protobuf, for models that need nothing else of it.
inline std::string varint(std::uint64_t number) {
  std::string out;
  for (; number >= 128; number >>= 7U) out.push_back(static_cast<char>(number | 128U));
  out.push_back(static_cast<char>(number));
  return out;
}
inline std::string number_field(std::uint64_t field, std::uint64_t number) {
  return varint(field << 3U) + varint(number);
}
inline std::string bytes_field(std::uint64_t field, const std::string& bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}

// A ValueInfoProto of f32[4].
inline std::string four_floats(const std::string& name) {
  const std::string shape = bytes_field(1, number_field(1, 4));
  const std::string tensor = number_field(1, 1) + bytes_field(2, shape);
  return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor));
}

inline std::string node(const std::string& type, const std::string& input, const std::string& output) {
  return bytes_field(1, input) + bytes_field(2, output) + bytes_field(3, output + "_node") + bytes_field(4, type);
}

// An ONNX model: x -> first -> a -> second -> y, all f32[4].
inline std::string two_nodes(const std::string& first, const std::string& second) {
  const std::string graph = bytes_field(1, node(first, "x", "a")) + bytes_field(1, node(second, "a", "y")) +
                            bytes_field(2, "small") + bytes_field(11, four_floats("x")) +
                            bytes_field(12, four_floats("y"));
  return number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, 17));
}

// y = Add(x, w) or y = Add(x, Relu(w)), where x is f32[4] and w is f32[rows,4], all ones. The offset of w in the file
// has the given remainder by 4.
inline std::string ones_added(std::int64_t rows, bool has_load_time, std::size_t remainder = 0) {
  const float one = 1;
  std::string ones(static_cast<std::size_t>(16 * rows), '\0');
  for (std::size_t at = 0; at < ones.size(); at += 4) std::memcpy(ones.data() + at, &one, 4);
  const auto extent = static_cast<std::uint64_t>(rows);
  const std::string w =
      number_field(1, extent) + number_field(1, 4) + number_field(2, 1) + bytes_field(8, "w") + bytes_field(9, ones);
  std::string y = number_field(1, 1);
  y += bytes_field(2, bytes_field(1, number_field(1, extent)) + bytes_field(1, number_field(1, 4)));
  const std::string add =
      bytes_field(1, "x") + bytes_field(1, has_load_time ? "r" : "w") + bytes_field(2, "y") + bytes_field(4, "Add");
  const std::string relu = has_load_time ? bytes_field(1, node("Relu", "w", "r")) : "";
  for (std::size_t length = 1;; ++length) {
    const std::string graph = relu + bytes_field(1, add) + bytes_field(2, std::string(length, 'g')) +
                              bytes_field(5, w) + bytes_field(11, four_floats("x")) +
                              bytes_field(12, bytes_field(1, "y") + bytes_field(2, bytes_field(1, y)));
    const std::string model = number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, 17));
    if (model.find(ones) % 4 == remainder) return model;
  }
}

// Writes a file into the folder of temporary files, and returns its path.
inline std::string write_temporary(const std::string& folder, const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

}  // namespace lowtide::testing
