// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/earlier/baselines/nets.h"

namespace lowtide::testing {
namespace {

struct Op {
  std::string type;
  std::vector<std::string> inputs;
  std::string output;
};

// Lines with one result each, separated by line ends or semicolons.
std::vector<Op> ops_of(std::string text) {
  for (char& letter : text) {
    if (letter == ';') letter = '\n';
  }
  std::vector<Op> ops;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Op op;
    std::string inputs;
    std::string arrow;
    if (!(words >> op.type >> inputs >> arrow >> op.output)) continue;
    std::istringstream names(inputs);
    for (std::string name; std::getline(names, name, ',');) op.inputs.push_back(name);
    ops.push_back(std::move(op));
  }
  return ops;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

// The backward pass, node by node. If several nodes read a name, each produces a part of its gradient, and a Sum
// adds them.
class Gradients {
 public:
  explicit Gradients(const std::vector<Op>& ops) : ops_(ops) {
    std::map<std::string, int> writers;
    for (const Op& op : ops) {
      writers[op.output] = 1;
      for (const std::string& input : op.inputs) {
        if (input != op.output) ++readers_[input];  // in place: the gradient is computed in place as well
      }
    }
    for (const auto& [name, reads] : readers_) {
      if (!writers.contains(name)) parameters_[name] = 1;
    }
  }

  TrainingNet run(std::string text) && {
    TrainingNet net{.text = std::move(text) + "ConstantFill loss -> loss_grad\n", .gradients = {"loss_grad"}};
    for (std::size_t at = ops_.size(); at-- > 0;) add(ops_[at], net);
    return net;
  }

 private:
  // Returns the name that the node writes for the gradient of one of its inputs.
  std::string target(const std::string& input, TrainingNet& net) {
    const std::string whole = input + "_grad";
    if (parameters_.contains(input)) return whole;
    if (readers_[input] < 2) {
      net.gradients.push_back(whole);
      return whole;
    }
    parts_[input].push_back(whole + "_" + std::to_string(parts_[input].size()));
    net.gradients.push_back(parts_[input].back());
    return parts_[input].back();
  }

  void add(const Op& op, TrainingNet& net) {
    std::vector<std::string> sources = op.inputs;
    sources.push_back(op.output + "_grad");
    std::vector<std::string> results;
    for (const std::string& input : op.inputs) {
      if (input == "label") continue;
      results.push_back(input == op.output ? op.output + "_grad" : target(input, net));
    }
    net.text += op.type + "Gradient " + joined(sources) + " -> " + joined(results) + "\n";
    for (const std::string& input : op.inputs) {
      if (parts_[input].size() < 2 || static_cast<int>(parts_[input].size()) != readers_[input]) continue;
      net.text += "Sum " + joined(parts_[input]) + " -> " + input + "_grad\n";
      net.gradients.push_back(input + "_grad");
      parts_[input].clear();
      readers_[input] = 0;
    }
  }

  const std::vector<Op>& ops_;
  std::map<std::string, int> readers_;
  std::map<std::string, int> parameters_;
  std::map<std::string, std::vector<std::string>> parts_;
};

// Bytes of a forward tensor or its gradient, for four images of 224 x 224 in floats.
std::int64_t bytes_of(const std::string& name) {
  constexpr std::int64_t kBytes = 4 * 4;
  const auto starts = [&](const char* with) { return name.rfind(with, 0) == 0; };
  if (starts("data")) return kBytes * 3 * 224 * 224;
  if (starts("conv1")) return kBytes * 64 * 112 * 112;
  if (starts("pool1")) return kBytes * 64 * 56 * 56;
  if (starts("pool5")) return kBytes * 2048;
  if (!starts("block")) return kBytes * 1000;  // fc, softmax, losses
  const int block = std::stoi(name.substr(5));
  const int stage = block < 3 ? 0 : block < 7 ? 1 : block < 13 ? 2 : 3;
  const std::int64_t side = 56 >> stage;
  const std::string ended = name + "_";
  const bool is_narrow = ended.find("_a_") != std::string::npos || ended.find("_b_") != std::string::npos;
  return kBytes * ((is_narrow ? 64 : 256) << stage) * side * side;
}

}  // namespace

TrainingNet resnet50_training() {
  std::string text = resnet50();
  text += "LabelCrossEntropy softmax,label -> xent; AveragedLoss xent -> loss\n";
  const std::vector<Op> ops = ops_of(text);
  TrainingNet net = Gradients(ops).run(text);
  for (const Op& op : ops) {
    net.bytes[op.output] = bytes_of(op.output);
    net.forward.push_back(op.output);
  }
  for (const std::string& gradient : net.gradients) net.bytes[gradient] = bytes_of(gradient);
  return net;
}

}  // namespace lowtide::testing
