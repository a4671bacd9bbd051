// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lowtide/graph/attribute.h"
#include "lowtide/graph/dtype.h"

namespace lowtide {

// A model of ONNX that an earlier system's net was converted to.
struct OnnxForm {
  std::string model;  // the bytes of an ONNX file
  // Long constants one after another. The model has them as external data in a file with this name.
  static constexpr std::string_view kConstantsFile = "constants";
  std::string constants;
};

// What a conversion may make of constants that are not in the net, all of them together.
inline constexpr std::int64_t kMostMadeBytes = std::int64_t{256} << 20;

struct OnnxType {
  DType dtype = DType::f32;
  std::vector<std::int64_t> extents;
};

struct OnnxNode {
  std::string type;
  std::vector<std::string> inputs;   // empty: omitted
  std::vector<std::string> outputs;  // the same
  std::vector<Attribute> attributes = {};
};

// Builds a model of ONNX, node by node. Each tensor has one writer, which is added before its readers. Nodes that no
// output needs are left out of the result. A Transpose between the two orders of axes of an image is made once, and its
// inverse is not made at all:
//
//   x [N, H, W, C] -> channels_first(x) -> Conv -> channels_last(...) "y" -> channels_first("y") is the result of Conv
class OnnxBuilder {
 public:
  // The names that tensors of the net have. Those that the builder makes differ from them.
  void reserve(std::string name) { taken_.insert(std::move(name)); }

  void add_input(const std::string& name, const OnnxType& type) { inputs_.emplace_back(name, type); }
  // A tensor may be an output more than once; only the first time counts.
  void add_output(const std::string& name, const OnnxType& type);

  // Adds a constant of this name. Requires: `bytes` has the size of the type.
  void add_constant(const std::string& name, const OnnxType& type, std::string_view bytes);
  // Constants with names of their own. Equal ones are made once.
  [[nodiscard]] std::string integers(const std::vector<std::int64_t>& list);  // i64
  [[nodiscard]] std::string list_of(DType dtype, const std::vector<std::int64_t>& list);
  // A scalar. Requires: as element_bytes().
  [[nodiscard]] std::string number(DType dtype, double value);
  // A scalar with these bytes. Requires: `bytes` has the size of the type.
  [[nodiscard]] std::string scalar(DType dtype, std::string_view bytes);

  // Whether N elements that the net does not have may be made, such as a list of all rows of a resized image. A
  // few bytes of a net could ask for any number of them otherwise. What is granted counts against kMostMadeBytes.
  // Requires: both are not negative, and the second is not 0.
  [[nodiscard]] bool may_make(std::int64_t elements, std::int64_t bytes_per_element = 8);

  // "base", or "base_2" and so on if that is taken.
  [[nodiscard]] std::string fresh(const std::string& base);

  void add(OnnxNode node) {
    written_.insert(node.outputs.begin(), node.outputs.end());
    nodes_.push_back(std::move(node));
  }
  // The same for a node with one output, whose name is made from `base`, and is returned.
  [[nodiscard]] std::string make(const std::string& base, OnnxNode node);
  // Whether a constant of this name was added, or a node with such an output.
  [[nodiscard]] bool writes(const std::string& name) const { return written_.contains(name); }

  // The tensor of `rank` axes with the last axis moved behind the first one. `rank` below 3: itself.
  [[nodiscard]] std::string channels_first(const std::string& name, std::size_t rank);
  // Writes the tensor with the axis behind the first one moved to the end as `name`. `rank` below 3: a copy.
  void channels_last(const std::string& first, std::size_t rank, const std::string& name);
  // Whether channels_first() of the tensor is there already.
  [[nodiscard]] bool has_channels_first(const std::string& name) const { return first_.contains(name); }

  // Consumes the builder.
  [[nodiscard]] OnnxForm finish(const std::string& graph_name) &&;

 private:
  struct Constant {
    std::string name;
    OnnxType type;
    std::size_t begin = 0;  // in bytes_, with `size` bytes
    std::size_t size = 0;
  };

  [[nodiscard]] std::string shared_constant(const std::string& base, const OnnxType& type, std::string_view bytes);
  [[nodiscard]] std::unordered_set<std::string> needed_names(std::vector<bool>& is_needed) const;

  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> next_number_;  // by base
  std::vector<std::pair<std::string, OnnxType>> inputs_;
  std::vector<std::pair<std::string, OnnxType>> outputs_;
  std::unordered_set<std::string> output_names_;
  std::vector<Constant> constants_;
  std::string bytes_;  // of all constants
  std::int64_t made_left_ = kMostMadeBytes;
  std::map<std::string, std::string> shared_;  // type and bytes -> name
  std::vector<OnnxNode> nodes_;
  std::unordered_set<std::string> written_;             // constants, and outputs of nodes
  std::unordered_map<std::string, std::string> first_;  // by the tensor with its channels last
};

// Where an axis is after OnnxBuilder::channels_first(), and the extents. Below three axes nothing moves.
[[nodiscard]] std::int64_t axis_in_first(std::int64_t axis, std::size_t rank);
[[nodiscard]] std::vector<std::int64_t> extents_in_first(const std::vector<std::int64_t>& extents);

}  // namespace lowtide
