// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/plain_net.h"

#include <algorithm>
#include <optional>

namespace lowtide::testing {

std::string name_without_version(const std::string& tensor) { return tensor.substr(0, tensor.find('@')); }

PlainNet plain_net_of(const Net& net) {
  PlainNet plain;
  const Graph& graph = net.graph;
  const auto name = [&](TensorId id) { return name_without_version(graph.tensor(id).name); };
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.role == Role::input) plain.inputs.push_back(name(id));
    if (tensor.role == Role::output) plain.outputs.insert(name(id));
    if (tensor.role == Role::constant) plain.constants.insert(name(id));
    std::int64_t& bytes = plain.bytes[name(id)];
    bytes = std::max(bytes, tensor.size.count());
    if (!net.options.devices.empty()) plain.devices[name(id)] = static_cast<int>(net.options.devices[id]);
  }
  for (TensorId id : net.options.keep) plain.protected_names.insert(name(id));
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    PlainNet::Op op{.type = graph.op(id).type, .inputs = {}, .outputs = {}};
    for (std::optional<TensorId> tensor : graph.node(id).inputs) {
      if (tensor) op.inputs.push_back(name(*tensor));
    }
    for (std::optional<TensorId> tensor : graph.node(id).outputs) {
      if (tensor) op.outputs.push_back(name(*tensor));
    }
    if (op.type == "Flatten") plain.view_of[op.outputs.front()] = op.inputs.front();
    plain.ops.push_back(std::move(op));
  }
  return plain;
}

namespace {

class NetDrawer {
 public:
  NetDrawer(Random& random, const RandomNetSpec& spec)
      : random_(random), spec_(spec), inputs_(random.between(1, spec.inputs)) {}

  Net draw() && {
    for (int at = 0; at < spec_.nodes; ++at) add_node();
    facts_.outputs.assign(outputs_.begin(), outputs_.end());
    if (facts_.outputs.empty()) facts_.outputs = {results_.back()};
    return net_of(text_, facts_);
  }

 private:
  std::string fresh() {
    // Names in another order than that of their nodes.
    const std::string name = std::string(1, static_cast<char>('a' + random_.below(26))) + std::to_string(made_++);
    facts_.bytes[name] = 8 * random_.between(1, spec_.sizes);
    return name;
  }

  std::string any() {
    if (results_.empty() || random_.chance(15)) return "in" + std::to_string(random_.below(inputs_));
    const std::size_t back =
        random_.chance(50) ? random_.below(std::min<std::size_t>(results_.size(), 3)) : random_.below(results_.size());
    return results_[results_.size() - 1 - back];
  }

  std::string result(const std::string& other) {
    const bool is_old = !results_.empty() && random_.chance(spec_.written_again);
    std::string name = is_old ? results_[random_.below(results_.size())] : fresh();
    if (name == other) name = fresh();
    results_.push_back(name);
    if (random_.chance(spec_.outputs)) outputs_.insert(name);
    return name;
  }

  void add_node() {
    if (!results_.empty() && random_.chance(spec_.views)) {
      const std::string base = results_[random_.below(results_.size())];
      const std::string view = fresh();
      facts_.bytes[view] = facts_.bytes[base];
      results_.push_back(view);
      text_ += "Flatten " + base + " -> " + view + "\n";
      return;
    }
    text_ += "F";
    if (results_.empty() || !random_.chance(spec_.nodes_without_inputs)) {
      const std::string first = any();
      text_ += " " + first;
      if (random_.chance(60)) text_ += "," + any();
      if (random_.chance(spec_.read_twice)) text_ += "," + first;
      if (random_.chance(spec_.constants)) {
        const std::string constant = "weight" + std::to_string(random_.below(3));
        facts_.constants.insert(constant);
        facts_.bytes[constant] = 100;
        text_ += "," + constant;
      }
    }
    const std::string first = result("");
    text_ += " -> " + first;
    if (random_.chance(spec_.two_results)) text_ += "," + result(first);
    text_ += "\n";
  }

  Random& random_;
  const RandomNetSpec& spec_;
  std::uint64_t inputs_;
  int made_ = 0;
  std::string text_;
  NetFacts facts_;
  std::vector<std::string> results_;
  std::set<std::string> outputs_;
};

}  // namespace

Net random_plain_net(Random& random, const RandomNetSpec& spec) { return NetDrawer(random, spec).draw(); }

void draw_devices(Random& random, Net& net, int count) {
  std::map<std::string, std::uint32_t> of;
  for (const Tensor& tensor : net.graph.tensors()) {
    const auto [place, is_new] = of.try_emplace(name_without_version(tensor.name), 0U);
    if (is_new) place->second = static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(count)));
    net.options.devices.push_back(place->second);
  }
}

}  // namespace lowtide::testing
