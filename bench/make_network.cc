// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Writes a generated ONNX network of at least NODES nodes, for bench/growth.py and bench/concurrency.py. It has
// residual blocks of Conv, BatchNormalization, Relu, Conv and Add. Some blocks are two branches with a Concat instead,
// and half of these end with two Reshapes. Weights are external data, as in large models. Their file does not exist.
//
//   make_network NODES FILE

#include <charconv>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "onnx/onnx_pb.h"

namespace {

class Network {
 public:
  explicit Network(onnx::GraphProto& graph) : graph_(graph) {}

  std::string input(const std::string& name, std::initializer_list<std::int64_t> extents) {
    declare(*graph_.add_input(), name, extents);
    return name;
  }
  void output(const std::string& name) { declare(*graph_.add_output(), name, {1, kChannels, kSide, kSide}); }

  std::string weight(std::initializer_list<std::int64_t> extents) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name("w" + std::to_string(weights_++));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (std::int64_t extent : extents) tensor.add_dims(extent);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value("weights.bin");
    return tensor.name();
  }

  std::string numbers(std::initializer_list<std::int64_t> content) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name("n" + std::to_string(weights_++));
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(content.size()));
    for (std::int64_t number : content) tensor.add_int64_data(number);
    return tensor.name();
  }

  std::string node(const std::string& type, std::initializer_list<std::string> inputs) {
    current_ = graph_.add_node();
    current_->set_op_type(type);
    for (const std::string& name : inputs) current_->add_input(name);
    const std::string name = "t" + std::to_string(nodes_++);
    current_->add_output(name);
    return name;
  }

  void attribute(const std::string& name, std::int64_t value) {
    onnx::AttributeProto& attribute = *current_->add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  void attribute(const std::string& name, std::initializer_list<std::int64_t> values) {
    onnx::AttributeProto& attribute = *current_->add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (std::int64_t value : values) attribute.add_ints(value);
  }

  std::string conv(const std::string& x, std::int64_t from, std::int64_t to) {
    const std::string y = node("Conv", {x, weight({to, from, 3, 3})});
    attribute("pads", {1, 1, 1, 1});
    return y;
  }

  // A block has 5 nodes. Every fourth one is a pair of branches joined by a Concat. Every eighth has two more nodes,
  // which are Reshapes.
  std::string block(const std::string& x, int index) {
    if (index % 4 == 3) {
      const std::string left = node("Relu", {conv(x, kChannels, kChannels / 2)});
      const std::string right = node("Sigmoid", {conv(x, kChannels, kChannels / 2)});
      std::string joined = node("Concat", {left, right});
      attribute("axis", 1);
      if (index % 8 != 7) return joined;
      const std::string flat = node("Reshape", {joined, numbers({1, -1})});
      return node("Reshape", {flat, numbers({1, kChannels, kSide, kSide})});
    }
    const std::string first = conv(x, kChannels, kChannels);
    const std::string scaled = node("BatchNormalization", {first, weight({kChannels}), weight({kChannels}),
                                                           weight({kChannels}), weight({kChannels})});
    const std::string second = conv(node("Relu", {scaled}), kChannels, kChannels);
    return node("Add", {x, second});
  }

  [[nodiscard]] int nodes() const { return nodes_; }

  static constexpr std::int64_t kChannels = 16;
  static constexpr std::int64_t kSide = 14;

 private:
  static void declare(onnx::ValueInfoProto& info, const std::string& name,
                      std::initializer_list<std::int64_t> extents) {
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    for (std::int64_t extent : extents)
      info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
  }

  onnx::GraphProto& graph_;
  onnx::NodeProto* current_ = nullptr;
  int nodes_ = 0;
  int weights_ = 0;
};

constexpr int kMostNodes = 10'000'000;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: make_network NODES FILE\n";
    return 2;
  }
  const std::string_view digits = argv[1];
  int wanted = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), wanted);
  if (error != std::errc() || end != digits.data() + digits.size() || wanted < 1 || wanted > kMostNodes) {
    std::cerr << "make_network: NODES is '" << digits << "'; give a whole number from 1 to " << kMostNodes << "\n";
    return 2;
  }
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  model.mutable_graph()->set_name("generated");
  Network network(*model.mutable_graph());
  std::string x = network.input("input", {1, Network::kChannels, Network::kSide, Network::kSide});
  for (int index = 0; network.nodes() < wanted; ++index) x = network.block(x, index);
  network.output(x);
  std::ofstream file(argv[2], std::ios::binary);
  if (model.SerializeToOstream(&file) && file.flush()) return 0;
  std::cerr << "make_network: cannot write '" << argv[2] << "'\n";
  return 1;
}
