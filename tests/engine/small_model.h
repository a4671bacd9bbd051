// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
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

// Writes a file into the folder of temporary files, and returns its path.
inline std::string write_temporary(const std::string& folder, const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

}  // namespace lowtide::testing
