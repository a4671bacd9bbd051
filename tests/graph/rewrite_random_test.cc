// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "lowtide/graph/rewrite.h"
#include "lowtide/graph/text.h"
#include "tests/graph/random_graph.h"
#include "tests/graph/same_graph.h"

namespace lowtide::testing {
namespace {

// A naive interpreter with hashes as contents: equal hashes mean equal content. Identity is transparent.
struct Meaning {
  IdVector<TensorId, std::size_t> tensors;
  IdVector<NodeId, std::size_t> nodes;

  explicit Meaning(const Graph& graph) : tensors(graph.tensors().size()), nodes(graph.nodes().size()) {
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
      tensors[id] = std::hash<std::string>()(graph.tensor(id).name);  // kept only if the tensor has no producer
    }
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) run(graph, id);
  }

 private:
  static void mix(std::size_t& hash, std::size_t item) {
    hash = (hash ^ item) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29U;
  }

  void run(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    std::size_t& hash = nodes[id];
    hash = std::hash<std::string>()(graph.op(id).domain + "::" + graph.op(id).type);
    for (const Attribute& attribute : node.attributes) mix(hash, std::hash<std::string>()(attribute.name));
    for (const std::optional<TensorId>& input : node.inputs) mix(hash, input ? tensors[*input] : 1);
    for (const Body& body : node.bodies) {
      mix(hash, std::hash<const Graph*>()(body.graph.get()));
      std::vector<std::pair<TensorId, std::size_t>> captures;
      for (const auto& [outer, inner] : body.captures) captures.emplace_back(inner, tensors[outer]);
      std::sort(captures.begin(), captures.end());
      for (const auto& [inner, content] : captures) mix(hash, content);
    }
    for (std::size_t at = 0; at < node.outputs.size(); ++at) {
      if (!node.outputs[at]) continue;
      std::size_t content = hash;
      mix(content, at);
      const bool is_identity = graph.op(id).type == "Identity" && graph.op(id).domain.empty();
      tensors[*node.outputs[at]] = is_identity ? tensors[*node.inputs[0]] : content;
    }
  }
};

bool is_pure(const Graph& graph, NodeId id) { return graph.op(id).traits.is_pure; }

// The pairs of impure nodes in which the first must run before the second. The hash of its content represents a node.
std::multiset<std::pair<std::size_t, std::size_t>> forced_order(const Graph& graph, const Meaning& meaning) {
  std::multiset<std::pair<std::size_t, std::size_t>> pairs;
  IdVector<NodeId, std::set<NodeId>> before(graph.nodes().size());
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const auto add = [&](NodeId earlier) {
      before[id].insert(earlier);
      before[id].insert(before[earlier].begin(), before[earlier].end());
    };
    for (TensorId read : graph.reads(id)) {
      if (graph.tensor(read).producer) add(*graph.tensor(read).producer);
    }
    for (NodeId earlier : graph.node(id).control_inputs) add(earlier);
    if (is_pure(graph, id)) continue;
    for (NodeId earlier : before[id]) {
      if (!is_pure(graph, earlier)) pairs.emplace(meaning.nodes[earlier], meaning.nodes[id]);
    }
  }
  return pairs;
}

// Random edits that keep the meaning of a graph.
class RandomEdits {
 public:
  RandomEdits(const Graph& graph, Random& random) : graph_(graph), random_(random), rewriter_(graph) {
    for (TensorId id : all_ids<TensorId>(graph.tensors().size())) tensors_.push_back({id, id});
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) nodes_.push_back(id);
  }

  Rewritten run() {
    for (std::uint64_t edits = random_.below(8); edits > 0; --edits) {
      switch (random_.below(5)) {
        case 0: insert_identity(); break;
        case 1: run_again(); break;
        case 2: rename(); break;
        case 3: remove_identity(); break;
        default: rewriter_.remove_unused(); removed_unused_ = true;
      }
      if (removed_unused_) break;  // removed nodes must not be edited
    }
    return std::move(rewriter_).finish().value();
  }

 private:
  struct Copy {
    TensorId tensor;
    TensorId original;  // with the same content
  };
  struct InsertedIdentity {
    NodeId node;
    TensorId from;
    TensorId to;
  };

  TensorId copy_of(TensorId original) {
    const Tensor& tensor = graph_.tensor(original);
    return rewriter_.add_tensor({.dtype = tensor.dtype, .shape = tensor.shape}, {original});
  }

  void insert_identity() {
    if (tensors_.empty()) return;
    const Copy from = tensors_[random_.below(tensors_.size())];
    const TensorId to = copy_of(from.original);
    rewriter_.replace_uses(from.tensor, to);
    const NodeId node = rewriter_.add_node({.type = "Identity", .inputs = {from.tensor}, .outputs = {to}}, {});
    identities_.push_back({node, from.tensor, to});
  }

  // A pure node runs once more, and everything reads the new outputs.
  void run_again() {
    if (nodes_.empty()) return;
    const NodeId node = nodes_[random_.below(nodes_.size())];
    if (!is_pure(graph_, node) || !graph_.node(node).bodies.empty()) return;
    GraphBuilder::NodeSpec spec = rewriter_.node(node);
    std::vector<std::pair<TensorId, TensorId>> replaced;
    for (std::optional<TensorId>& output : spec.outputs) {
      if (!output) continue;
      replaced.emplace_back(*output, copy_of(*output));
      output = replaced.back().second;
    }
    rewriter_.add_node(std::move(spec), {node});
    for (const auto& [old, again] : replaced) rewriter_.replace_uses(old, again);
  }

  void rename() {
    if (nodes_.empty()) return;
    const NodeId node = nodes_[random_.below(nodes_.size())];
    GraphBuilder::NodeSpec spec = rewriter_.node(node);
    spec.name += "'";
    rewriter_.replace_node(node, std::move(spec));
  }

  void remove_identity() {
    if (identities_.empty()) return;
    const InsertedIdentity last = identities_.back();
    identities_.pop_back();
    rewriter_.replace_uses(last.to, last.from);
    rewriter_.remove_node(last.node);
  }

  const Graph& graph_;
  Random& random_;
  GraphRewriter rewriter_;
  std::vector<Copy> tensors_;
  std::vector<NodeId> nodes_;
  std::vector<InsertedIdentity> identities_;
  bool removed_unused_ = false;
};

void expect_same_meaning(const Graph& graph, const Rewritten& rewritten) {
  const Meaning before(graph);
  const Meaning after(rewritten.graph);
  ASSERT_EQ(graph.outputs().size(), rewritten.graph.outputs().size());
  for (std::size_t at = 0; at < graph.outputs().size(); ++at) {
    ASSERT_EQ(before.tensors[graph.outputs()[at]], after.tensors[rewritten.graph.outputs()[at]]) << at;
  }
  ASSERT_EQ(graph.state_updates().size(), rewritten.graph.state_updates().size());
  for (std::size_t at = 0; at < graph.state_updates().size(); ++at) {
    const StateUpdate& update = rewritten.graph.state_updates()[at];
    ASSERT_EQ(before.tensors[graph.state_updates()[at].next], after.tensors[update.next]);
    ASSERT_EQ(before.tensors[graph.state_updates()[at].state], after.tensors[update.state]);
  }
  for (TensorId id : all_ids<TensorId>(rewritten.graph.tensors().size())) {
    for (TensorId origin : rewritten.origins.tensors[id])
      ASSERT_EQ(before.tensors[origin], after.tensors[id]) << id.value();
  }
  for (NodeId id : all_ids<NodeId>(rewritten.graph.nodes().size())) {
    for (NodeId origin : rewritten.origins.nodes[id]) ASSERT_EQ(before.nodes[origin], after.nodes[id]) << id.value();
  }
  ASSERT_EQ(forced_order(graph, before), forced_order(rewritten.graph, after));
}

TEST(RewriteRandom, WithoutEditsTheGraphIsEqual) {
  Random random(21);
  for (int round = 0; round < 400; ++round) {
    const Graph graph = random_graph(random);
    const Rewritten rewritten = GraphRewriter(graph).finish().value();
    ASSERT_EQ(difference(graph, rewritten.graph), "") << print_graph(graph);
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) ASSERT_EQ(rewritten.origins.nodes[id], std::vector{id});
    for (TensorId id : all_ids<TensorId>(graph.tensors().size()))
      ASSERT_EQ(rewritten.origins.tensors[id], std::vector{id});
  }
}

TEST(RewriteRandom, GivesAGraphExactlyIfSomethingWasRemoved) {
  Random random(23);
  int changed = 0;
  for (int round = 0; round < 400; ++round) {
    const Graph graph = random_graph(random);
    GraphRewriter rewriter(graph);
    rewriter.remove_unused();
    const std::optional<Rewritten> rewritten = std::move(rewriter).finish_if_changed().value();
    GraphRewriter again(graph);
    again.remove_unused();
    const Graph expected = std::move(again).finish().value().graph;
    ASSERT_EQ(rewritten.has_value(), !difference(graph, expected).empty()) << print_graph(graph);
    if (!rewritten) continue;
    ASSERT_EQ(difference(rewritten->graph, expected), "");
    ++changed;
  }
  EXPECT_GT(changed, 20);
  EXPECT_LT(changed, 380);
}

TEST(RewriteRandom, EditsKeepTheMeaningAndOriginsCompose) {
  Random random(22);
  std::int64_t edited = 0;
  for (int round = 0; round < 1'500; ++round) {
    const Graph graph = random_graph(random, 1);
    Rewritten first = RandomEdits(graph, random).run();
    ASSERT_NO_FATAL_FAILURE(expect_same_meaning(graph, first)) << print_graph(graph) << print_graph(first.graph);
    Rewritten second = RandomEdits(first.graph, random).run();
    ASSERT_NO_FATAL_FAILURE(expect_same_meaning(first.graph, second)) << print_graph(first.graph);
    second.origins = compose(first.origins, second.origins);
    ASSERT_NO_FATAL_FAILURE(expect_same_meaning(graph, second)) << print_graph(graph) << print_graph(second.graph);
    edited += second.graph.nodes().size() != graph.nodes().size() ? 1 : 0;
  }
  EXPECT_GT(edited, 500);
}

TEST(RewriteRandom, EqualEditsGiveEqualGraphs) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random one(seed);
    Random other(seed);
    const Graph graph = random_graph(one, 1);
    (void)random_graph(other, 1);
    ASSERT_EQ(print_graph(RandomEdits(graph, one).run().graph), print_graph(RandomEdits(graph, other).run().graph));
  }
}

}  // namespace
}  // namespace lowtide::testing
