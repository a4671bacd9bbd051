// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/nets.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "lowtide/graph/builder.h"
#include "lowtide/pipeline/plan_graph.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view marks) {
  std::vector<std::string> parts;
  std::string part;
  for (char letter : text) {
    if (marks.find(letter) == std::string_view::npos) {
      part += letter;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, ""));
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

// Makes each write of a name a separate tensor.
class NetReader {
 public:
  explicit NetReader(const NetFacts& facts) : facts_(facts) {}

  void read_line(const std::string& line) {
    const std::vector<std::string> words = split(line, " \n");
    if (words.empty()) return;
    GraphBuilder::NodeSpec node{.type = words.front()};
    enum class List : std::uint8_t { inputs, captures, outputs } list = List::inputs;
    std::vector<TensorId> captures;
    for (std::size_t at = 1; at < words.size(); ++at) {
      if (words[at] == "->" || words[at] == "captures") {
        list = words[at] == "->" ? List::outputs : List::captures;
        continue;
      }
      for (const std::string& name : split(words[at], ",")) {
        if (list == List::outputs) {
          node.outputs.push_back(add(name, Role::temporary));
          continue;
        }
        const TensorId read = versions_[name].empty() ? add(name, role_of(name)) : versions_[name].back();
        if (list == List::captures) captures.push_back(read);
        if (list == List::inputs) node.inputs.push_back(read);
      }
    }
    if (!captures.empty()) node.bodies.push_back(body_that_reads(std::move(captures)));
    builder_.add_node(std::move(node));
  }

  Net finish() && {
    std::vector<TensorId> outputs;
    for (const std::string& name : facts_.outputs) {
      if (versions_[name].empty()) throw std::runtime_error("no tensor " + name);
      outputs.push_back(versions_[name].back());
    }
    builder_.set_outputs(std::move(outputs));
    Result<Graph> graph = std::move(builder_).build();
    if (!graph) throw std::runtime_error(graph.error().describe());
    Net net{*std::move(graph), {}};
    for (const auto& [name, versions] : versions_) {
      if (versions.size() > 1) net.options.colocated.push_back(versions);
    }
    return net;
  }

 private:
  static Body body_that_reads(std::vector<TensorId> captures) {
    std::sort(captures.begin(), captures.end());
    captures.erase(std::unique(captures.begin(), captures.end()), captures.end());
    GraphBuilder builder("body");
    Body body{.name = "body"};
    GraphBuilder::NodeSpec node{.type = "F"};
    for (TensorId outer : captures) {
      const TensorId inner = builder.add_tensor(
          {.name = "of" + std::to_string(outer.value()), .dtype = DType::u8, .shape = Shape({64}), .is_captured = true},
          Role::input);
      node.inputs.push_back(inner);
      body.captures.emplace_back(outer, inner);
    }
    const TensorId result = builder.add_tensor({.name = "result", .dtype = DType::u8, .shape = Shape({64})});
    node.outputs.push_back(result);
    builder.add_node(std::move(node));
    builder.set_outputs({result});
    Result<Graph> graph = std::move(builder).build();
    if (!graph) throw std::runtime_error(graph.error().describe());
    body.graph = std::make_shared<const Graph>(*std::move(graph));
    return body;
  }

  Role role_of(const std::string& name) const { return facts_.constants.contains(name) ? Role::constant : Role::input; }

  TensorId add(const std::string& name, Role role) {
    std::vector<TensorId>& versions = versions_[name];
    const auto bytes = facts_.bytes.find(name);
    const std::string version = versions.empty() ? name : name + "@" + std::to_string(versions.size());
    versions.push_back(builder_.add_tensor(
        {.name = version, .dtype = DType::u8, .shape = Shape({bytes == facts_.bytes.end() ? 64 : bytes->second})},
        role));
    return versions.back();
  }

  const NetFacts& facts_;
  GraphBuilder builder_{"net"};
  std::map<std::string, std::vector<TensorId>> versions_;
};

}  // namespace

Net net_of(std::string_view text, const NetFacts& facts) {
  NetReader reader(facts);
  for (const std::string& line : split(text, ";\n")) reader.read_line(line);
  return std::move(reader).finish();
}

TensorId last_of(const Net& net, const std::string& name) { return all_of(net, {name}).back(); }

std::vector<TensorId> all_of(const Net& net, const std::vector<std::string>& names) {
  std::map<std::string, std::vector<TensorId>> by_name;
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    by_name[split(net.graph.tensor(id).name, "@").front()].push_back(id);
  }
  std::vector<TensorId> found;
  for (const std::string& name : names) {
    if (!by_name.contains(name)) throw std::runtime_error("no tensor " + name);
    found.insert(found.end(), by_name[name].begin(), by_name[name].end());
  }
  return found;
}

BaselineOutcome outcome_of(const Net& net, const std::string& baseline) {
  BaselineOptions options = net.options;
  options.baseline = baseline;
  Result<BaselineOutcome> outcome = apply_baseline(net.graph, given_order(net.graph), options);
  if (!outcome) throw std::runtime_error(outcome.error().describe());
  if (!outcome->violations.empty()) throw std::runtime_error(baseline + ": " + outcome->violations.front().message);
  return *std::move(outcome);
}

int block_of(const Net& net, const BaselineOutcome& outcome, const std::string& name) {
  const std::optional<SharingPlace>& place = outcome.sharing.places[last_of(net, name)];
  return place ? static_cast<int>(place->block) : -1;
}

std::vector<std::string> block_names(const BaselineOutcome& outcome) {
  std::vector<std::string> names;
  for (const BaselineBlock& block : outcome.blocks) names.push_back(block.name);
  return names;
}

std::int64_t offset_of(const Net& net, const BaselineOutcome& outcome, const std::string& name) {
  return outcome.sharing.places[last_of(net, name)].value().offset.position();
}

std::int64_t own_arena(const Net& net) {
  Target target = dense_target();
  for (Region& region : target.machine.regions) region.alignment = Bytes(1);
  const Result<PlannedGraph> planned = plan_graph(net.graph, target);
  if (!planned) throw std::runtime_error(planned.error().describe());
  if (!planned->violations.empty()) throw std::runtime_error(planned->violations.front().message);
  return arena_bytes(planned->plan).count();
}

std::string chain(int nodes) {
  std::string text;
  for (int at = 0; at < nodes; ++at) text += "F x" + std::to_string(at) + " -> x" + std::to_string(at + 1) + "\n";
  return text;
}

std::string ladder(int rungs) {
  std::string text;
  std::string left = "data";
  std::string right = "data";
  for (int at = 1; at <= rungs; ++at) {
    const std::string l = "l" + std::to_string(at);
    const std::string r = "r" + std::to_string(at);
    text += "F " + left + "," + right + " -> " + l + "; G " + right + "," + l + " -> " + r + "\n";
    left = l;
    right = r;
  }
  return text + "Sum " + left + "," + right + " -> out\n";
}

Branches branches(int count, int depth) {
  Branches rows;
  for (int branch = 0; branch < count; ++branch) {
    std::string from = "a";
    for (int at = 0; at < depth; ++at) {
      const std::string to = "b" + std::to_string(branch) + "_" + std::to_string(at);
      rows.text += "B " + from + " -> " + to + "\n";
      from = to;
    }
    rows.ends += (rows.ends.empty() ? "" : ",") + from;
  }
  return rows;
}

std::string wide(int count, int depth) {
  const Branches rows = branches(count, depth);
  return "A data -> a\n" + rows.text + "Sum " + rows.ends + " -> sum; C sum -> c0; C c0 -> c1; C c1 -> out\n";
}

namespace {

// Convolution and normalization, each with its own parameters.
std::string conv_bn(const std::string& from, const std::string& to) {
  std::string text = "Conv " + from + "," + to + "_w," + to + "_b -> " + to + "\n";
  text += "SpatialBN " + to;
  for (const char* parameter : {"_s", "_o", "_mean", "_var"}) text += "," + to + "_bn" + parameter;
  return text + " -> " + to + "_bn\n";
}

std::string relu(const std::string& name) { return "Relu " + name + " -> " + name + "\n"; }

}  // namespace

namespace {

std::string fc(const std::string& from, const std::string& to) {
  return "FC " + from + "," + to + "_w," + to + "_b -> " + to + "\n";
}

std::string loss(const std::string& from, const std::string& number) {
  return "Softmax " + from + " -> pred" + number + "; LabelCrossEntropy pred" + number + ",label -> xent" + number +
         "; AveragedLoss xent" + number + " -> loss" + number + "\n";
}

std::string loss_gradient(const std::string& number, const std::string& to) {
  return "ConstantFill loss" + number + " -> loss" + number + "_grad; AveragedLossGradient xent" + number + ",loss" +
         number + "_grad -> xent" + number + "_grad; LabelCrossEntropyGradient pred" + number + ",label,xent" + number +
         "_grad -> pred" + number + "_grad; SoftmaxGradient pred" + number + ",pred" + number + "_grad -> " + to + "\n";
}

std::string fc_gradient(const std::string& from, const std::string& name, const std::string& gradient) {
  return "FCGradient " + from + "," + name + "_w," + name + "_grad -> " + name + "_w_grad," + name + "_b_grad," +
         gradient + "\n";
}

std::string rows(int last) {
  std::string text = fc("data", "fc1");
  for (int at = 2; at <= last; ++at) text += fc("fc" + std::to_string(at - 1), "fc" + std::to_string(at));
  return text;
}

std::string row_gradients(int last) {
  std::string text;
  for (int at = last; at > 1; --at) {
    const std::string before = "fc" + std::to_string(at - 1);
    text += fc_gradient(before, "fc" + std::to_string(at), before + "_grad");
  }
  return text + fc_gradient("data", "fc1", "data_grad");
}

}  // namespace

std::string tree(bool writes_over_sum) {
  const std::string top = writes_over_sum ? "Relu fc5 -> fc5sum\n" : "Relu fc5sum -> relu1\n";
  return rows(5) + fc("fc2", "fc3b") + fc("fc3b", "fc4b") + fc("fc4b", "fc5b") + "Sum fc5,fc5b -> fc5sum\n" + top +
         loss(writes_over_sum ? "fc5sum" : "relu1", "1") + fc("fc5", "fc6") + relu("fc6") + loss("fc6", "2");
}

std::string training(int layers) {
  const std::string last = "fc" + std::to_string(layers);
  return rows(layers) + relu(last) + loss(last, "") + loss_gradient("", last + "_grad") + "ReluGradient " + last + "," +
         last + "_grad -> " + last + "_grad\n" + row_gradients(layers);
}

std::string training_tree() {
  return rows(5) + loss("fc5", "1") + fc("fc5", "fc6") + loss("fc6", "2") + loss_gradient("1", "fc5_grad_0") +
         loss_gradient("2", "fc6_grad") + fc_gradient("fc5", "fc6", "fc5_grad_1") +
         "Sum fc5_grad_0,fc5_grad_1 -> fc5_grad\n" + row_gradients(5);
}

std::string resnet50() {
  std::string text = conv_bn("data", "conv1") + relu("conv1_bn") + "MaxPool conv1_bn -> pool1\n";
  std::string from = "pool1";
  int number = 0;
  for (int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      const std::string name = "block" + std::to_string(number++);
      text += conv_bn(from, name + "_a") + relu(name + "_a_bn");
      text += conv_bn(name + "_a_bn", name + "_b") + relu(name + "_b_bn");
      text += conv_bn(name + "_b_bn", name + "_c");
      std::string shortcut = from;
      if (block == 0) {
        text += conv_bn(from, name + "_shortcut");
        shortcut = name + "_shortcut_bn";
      }
      text += "Sum " + shortcut + "," + name + "_c_bn -> " + name + "_sum\n" + relu(name + "_sum");
      from = name + "_sum";
    }
  }
  return text + "AveragePool " + from + " -> pool5; FC pool5,fc_w,fc_b -> fc; Softmax fc -> softmax\n";
}

}  // namespace lowtide::testing
