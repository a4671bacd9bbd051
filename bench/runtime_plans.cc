// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/graph/builder.h"

// Prints random graphs, and how many bytes the baselines of TFLite Micro and ExecuTorch need for them: one line of JSON
// per graph. runtime_plans.py gives the same graphs to the originals.
namespace {

using lowtide::BaselineOutcome;
using lowtide::Bytes;
using lowtide::Graph;
using lowtide::GraphBuilder;
using lowtide::IdVector;
using lowtide::NodeId;
using lowtide::Random;
using lowtide::Role;
using lowtide::TensorId;

class RandomModel {
 public:
  explicit RandomModel(Random& random)
      : random_(random), largest_(random.chance(50) ? 64 : 5000), most_inputs_(random.between(1, 4)) {}

  Graph make() {
    for (std::int64_t at = random_.between(1, 4); at > 0; --at) tensor(size(), Role::input);
    const std::size_t given = made_.size();
    for (std::int64_t at = random_.between(1, 60); at > 0; --at) add_node();
    std::vector<TensorId> outputs = {made_.back().id};
    for (std::size_t at = given; at + 1 < made_.size(); ++at) {
      if (random_.chance(5)) outputs.push_back(made_[at].id);
    }
    builder_.set_outputs(outputs);
    lowtide::Result<Graph> graph = std::move(builder_).build();
    if (!graph) throw std::runtime_error(graph.error().describe());
    return *std::move(graph);
  }

 private:
  struct Made {
    TensorId id;
    std::int64_t size;
  };

  std::int64_t size() { return random_.between(1, largest_); }

  TensorId tensor(std::int64_t size, Role role = Role::temporary) {
    const TensorId id = builder_.add_tensor(
        {.name = "t" + std::to_string(made_.size()), .dtype = lowtide::DType::u8, .shape = lowtide::Shape({size})},
        role);
    made_.push_back({id, size});
    return id;
  }

  // Recent tensors are likelier, as in real networks.
  Made any() {
    const std::size_t back = random_.chance(70) ? random_.below(4) : random_.below(made_.size());
    return made_[made_.size() - 1 - std::min(back, made_.size() - 1)];
  }

  void add_node() {
    const Made first = any();
    if (random_.chance(20)) {
      const char* type = random_.chance(50) ? "Reshape" : "Unsqueeze";
      builder_.add_node({.type = type, .inputs = {first.id}, .outputs = {tensor(first.size)}});
      return;
    }
    std::vector<std::optional<TensorId>> inputs = {first.id};
    for (std::int64_t at = random_.between(1, most_inputs_); at > 1; --at) inputs.emplace_back(any().id);
    std::vector<std::optional<TensorId>> outputs = {tensor(size())};
    if (random_.chance(15)) outputs.emplace_back(tensor(size()));
    builder_.add_node({.type = "Mix", .inputs = inputs, .outputs = outputs});
  }

  Random& random_;
  GraphBuilder builder_{"random"};
  std::int64_t largest_;
  std::int64_t most_inputs_;
  std::vector<Made> made_;
};

std::string list(const std::vector<std::optional<TensorId>>& tensors) {
  std::string text;
  for (const std::optional<TensorId>& id : tensors) text += (text.empty() ? "" : ", ") + std::to_string(id->value());
  return "[" + text + "]";
}

std::int64_t bytes_of(const Graph& graph, const IdVector<NodeId, Bytes>& scratch, const char* baseline) {
  std::vector<NodeId> order;
  for (NodeId id : lowtide::all_ids<NodeId>(graph.nodes().size())) order.push_back(id);
  const lowtide::Result<BaselineOutcome> outcome =
      lowtide::apply_baseline(graph, order, {.baseline = baseline, .workspaces = {.shared = scratch}, .effort = 1});
  if (!outcome) throw std::runtime_error(outcome.error().describe());
  if (!outcome->violations.empty()) throw std::runtime_error(outcome->violations.front().message);
  return outcome->bytes.count();
}

void print(const Graph& graph, Random& random) {
  std::string tensors;
  for (const lowtide::Tensor& tensor : graph.tensors()) {
    tensors += (tensors.empty() ? "" : ", ") + std::string("[") + std::to_string(tensor.size.count()) + ", \"" +
               std::string(to_string(tensor.role)) + "\"]";
  }
  std::string nodes;
  IdVector<NodeId, Bytes> scratch;
  for (NodeId id : lowtide::all_ids<NodeId>(graph.nodes().size())) {
    scratch.push_back(Bytes(random.chance(30) ? random.between(1, 2000) : 0));
    nodes += (nodes.empty() ? "" : ", ") + std::string(R"({"type": ")") + graph.op(id).type + R"(", "inputs": )" +
             list(graph.node(id).inputs) + R"(, "outputs": )" + list(graph.node(id).outputs) + R"(, "scratch": )" +
             std::to_string(scratch[id].count()) + "}";
  }
  std::string bytes;
  for (const char* baseline : {"tflite_micro_greedy", "executorch_greedy", "executorch_naive"}) {
    bytes += (bytes.empty() ? "\"" : ", \"") + std::string(baseline) +
             "\": " + std::to_string(bytes_of(graph, scratch, baseline));
  }
  std::printf(R"({"tensors": [%s], "nodes": [%s], "bytes": {%s}})"
              "\n",
              tensors.c_str(), nodes.c_str(), bytes.c_str());
}

}  // namespace

int main() {
  try {
    Random random(41);
    for (int round = 0; round < 1000; ++round) print(RandomModel(random).make(), random);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
  return 0;
}
