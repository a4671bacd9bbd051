// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/earlier/baselines/ports/caffe2_dag_port.h"

#include <gtest/gtest.h>

#include <optional>

#include "lowtide/graph/text.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

struct NamedBuffer {
  std::string name;  // without the number of a shared buffer, which the original takes from a hash table
  std::set<std::string> names;
  auto operator<=>(const NamedBuffer&) const = default;
};

// The buffers with several names, after the original's renaming.
std::set<NamedBuffer> buffers_of(const PlainNet& net, const DagQuestion& question, const DagAnswer& answer) {
  std::set<std::string> written;
  for (std::size_t at : question.op_indices) written.insert(net.ops[at].outputs.begin(), net.ops[at].outputs.end());
  std::map<std::string, std::set<std::string>> by_host;
  for (const auto& [name, host] : answer.mapping) by_host[host].insert(name);
  for (auto& [host, names] : by_host) {
    if (!answer.mapping.contains(host)) names.insert(host);
  }
  std::set<NamedBuffer> buffers;
  for (const auto& [host, names] : by_host) buffers.insert({written.contains(host) ? "ns/__m" : host, names});
  return buffers;
}

std::set<NamedBuffer> buffers_of(const Net& net, const BaselineOutcome& outcome) {
  std::vector<NamedBuffer> found(outcome.blocks.size());
  for (std::size_t at = 0; at < outcome.blocks.size(); ++at) {
    const std::string& name = outcome.blocks[at].name;
    found[at].name = name.substr(0, 6) == "ns/__m" ? "ns/__m" : name;
  }
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    if (place) found[place->block].names.insert(name_without_version(net.graph.tensor(id).name));
  }
  return {found.begin(), found.end()};
}

std::int64_t bytes_in(const PlainNet& net, const std::set<NamedBuffer>& buffers) {
  std::int64_t sum = 0;
  std::set<std::string> left;
  for (const PlainNet::Op& op : net.ops) left.insert(op.outputs.begin(), op.outputs.end());
  for (const std::string& name : net.inputs) left.erase(name);
  for (const NamedBuffer& buffer : buffers) {
    std::int64_t most = 0;
    for (const std::string& name : buffer.names) {
      most = std::max(most, net.bytes.at(name));
      left.erase(name);
    }
    sum += most;
  }
  for (const std::string& name : left) sum += net.bytes.at(name);
  return sum;
}

DagQuestion question_of(const PlainNet& net, bool by_size) {
  DagQuestion question{.heads = net.inputs};
  for (std::size_t at = 0; at < net.ops.size(); ++at) {
    question.op_indices.push_back(at);
    for (const std::string& name : net.ops[at].outputs) question.shareable.insert(name);
  }
  for (const std::string& name : net.inputs) question.shareable.erase(name);
  for (const std::string& name : net.outputs) question.shareable.erase(name);
  if (by_size) question.sizes = net.bytes;
  return question;
}

struct Tally {
  int same = 0;
  int mended = 0;
  int stopped = 0;
  int shared = 0;
};

void compare(const Net& net, const DagQuestion& question, const std::string& baseline, Tally& tally) {
  SCOPED_TRACE(print_graph(net.graph));
  const PlainNet plain = plain_net_of(net);
  const DagAnswer answer = ported_dag(plain, question);
  const BaselineOutcome outcome = outcome_of(net, baseline);
  if (answer.stops) {
    ++tally.stopped;
    ASSERT_TRUE(outcome.original_failure) << baseline;
    EXPECT_EQ(outcome.original_failure->substr(0, 9), "it stops,");
    return;
  }
  const std::set<NamedBuffer> buffers = buffers_of(plain, question, answer);
  if (outcome.original_failure) {
    ++tally.mended;
    EXPECT_EQ(outcome.original_failure->substr(0, 19), "its result is wrong") << *outcome.original_failure;
    EXPECT_NE(buffers_of(net, outcome), buffers) << *outcome.original_failure;
    return;
  }
  ++tally.same;
  tally.shared += static_cast<int>(buffers.size());
  EXPECT_EQ(buffers_of(net, outcome), buffers) << baseline;
  EXPECT_EQ(outcome.shared_buffers, static_cast<std::int64_t>(buffers.size()));
  EXPECT_EQ(outcome.bytes.count(), bytes_in(plain, buffers));
}

RandomNetSpec spec_of(Random& random) {
  return {.nodes = static_cast<int>(random.between(2, 24)),
          .inputs = random.chance(50) ? 1 : 3,
          .written_again = random.chance(30) ? 15U : 0U,
          .read_twice = 15,
          .nodes_without_inputs = random.chance(30) ? 10U : 0U,
          .sizes = random.chance(50) ? 3 : 30};
}

TEST(Caffe2DagPort, GivesTheSameBuffers) {
  for (const char* baseline : {"caffe2_dag", "caffe2_dag_sized"}) {
    Random random(41);
    Tally tally;
    for (int round = 0; round < 3000; ++round) {
      Net net = random_plain_net(random, spec_of(random));
      net.options.namescope = "ns/";
      if (random.chance(30)) draw_devices(random, net, 2);
      const PlainNet plain = plain_net_of(net);
      compare(net, question_of(plain, baseline == std::string("caffe2_dag_sized")), baseline, tally);
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(tally.same, 2000) << baseline;
    EXPECT_GT(tally.stopped, 50) << baseline;
    EXPECT_GT(tally.shared, 2000) << baseline;
    RecordProperty(std::string(baseline) + "_mended", tally.mended);
  }
}

// Heads in any order, some nodes, some names, and names that are not released.
TEST(Caffe2DagPort, GivesTheSameBuffersForWhatTheCallerLists) {
  Random random(42);
  Tally tally;
  for (int round = 0; round < 2000; ++round) {
    Net net = random_plain_net(random, spec_of(random));
    net.options.namescope = "ns/";
    PlainNet plain = plain_net_of(net);
    const bool by_size = random.chance(50);
    DagQuestion question = question_of(plain, by_size);
    net.options.heads.emplace();
    net.options.shareable.emplace();
    net.options.taking_part.emplace();
    question.heads.clear();
    question.op_indices.clear();
    std::set<std::string> shareable;
    for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
      const std::string name = name_without_version(net.graph.tensor(id).name);
      if (name != net.graph.tensor(id).name) continue;
      if (net.graph.tensor(id).role == Role::input ? random.chance(80) : random.chance(5)) {
        net.options.heads->push_back(id);
        question.heads.push_back(name);
      }
      if (question.shareable.contains(name) && random.chance(85)) {
        net.options.shareable->push_back(id);
        shareable.insert(name);
      }
      if (random.chance(10)) {
        net.options.dont_release.push_back(id);
        if (question.shareable.contains(name)) question.dont_share.insert(name);
      }
    }
    question.shareable = shareable;
    for (std::uint32_t at = 0; at < net.graph.nodes().size(); ++at) {
      if (!random.chance(90)) continue;
      net.options.taking_part->push_back(NodeId(at));
      question.op_indices.push_back(at);
    }
    compare(net, question, by_size ? "caffe2_dag_sized" : "caffe2_dag", tally);
    if (HasFailure()) return;
  }
  EXPECT_GT(tally.same, 1000);
  EXPECT_GT(tally.shared, 500);
}

// Random gradients and hosts, with the outputs as heads.
TEST(Caffe2DagPort, GivesTheSameBuffersForGradients) {
  for (const char* baseline : {"caffe2_gradients", "caffe2_gradients_sized"}) {
    Random random(43);
    Tally tally;
    int hosts = 0;
    for (int round = 0; round < 2000; ++round) {
      Net net = random_plain_net(random, spec_of(random));
      net.options.namescope = "ns/";
      if (random.chance(30)) draw_devices(random, net, 2);
      const PlainNet plain = plain_net_of(net);
      DagQuestion question = question_of(plain, baseline == std::string("caffe2_gradients_sized"));
      question.heads.clear();
      for (TensorId id : net.graph.outputs()) {
        question.heads.push_back(name_without_version(net.graph.tensor(id).name));
      }
      std::set<std::string> gradients;
      std::set<std::string> shareable;
      for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
        const std::string name = name_without_version(net.graph.tensor(id).name);
        if (name != net.graph.tensor(id).name || !question.shareable.contains(name)) continue;
        const bool is_gradient = id.value() * 2 > net.graph.tensors().size() && random.chance(80);
        if (is_gradient) net.options.gradients.push_back(id);
        if (is_gradient) gradients.insert(name);
        if (!is_gradient && random.chance(50)) net.options.hosts.push_back(id);
        if (is_gradient || (!net.options.hosts.empty() && net.options.hosts.back() == id)) shareable.insert(name);
      }
      question.shareable = shareable;
      question.op_indices.clear();
      const auto is_gradient = [&](const std::string& name) { return gradients.contains(name); };
      for (std::size_t at = 0; at < plain.ops.size(); ++at) {
        const PlainNet::Op& op = plain.ops[at];
        if (std::any_of(op.inputs.begin(), op.inputs.end(), is_gradient) ||
            std::any_of(op.outputs.begin(), op.outputs.end(), is_gradient)) {
          question.op_indices.push_back(at);
        }
      }
      compare(net, question, baseline, tally);
      if (::testing::Test::HasFailure()) return;
      for (const NamedBuffer& buffer : buffers_of(net, outcome_of(net, baseline)))
        hosts += buffer.name == "ns/__m" ? 0 : 1;
    }
    EXPECT_GT(tally.same, 1000) << baseline;
    EXPECT_GT(tally.shared, 100) << baseline;
    EXPECT_GT(hosts, 20) << baseline;
  }
}

}  // namespace
}  // namespace lowtide::testing
