// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/text.h"
#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/lower/each_pass.h"
#include "tests/testing/block_formats.h"
#include "tests/testing/in_branches.h"
#include "tests/testing/random_passes.h"

namespace lowtide {
namespace {

// Convolutions, pools, element-wise nodes, joins and nodes without blocks, on images with 3 to 48 channels.
class RandomNetwork {
 public:
  explicit RandomNetwork(Random& random) : random_(random), builder_("g") {}

  Graph make() {
    images_.push_back(add({1, random_.chance(50) ? 3 : 16, 6, 6}, Role::input));
    one_ = add({}, Role::constant);
    for (std::int64_t count = random_.between(2, 14); count > 0; --count) add_node();
    std::vector<TensorId> outputs = {images_.back().id};
    if (random_.chance(30)) outputs.push_back(images_[images_.size() / 2].id);
    if (outputs.back() == images_[0].id) outputs.pop_back();
    std::sort(outputs.begin(), outputs.end());
    outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
    builder_.set_outputs(std::move(outputs));
    return *std::move(builder_).build();
  }

 private:
  struct Image {
    TensorId id;
    std::vector<std::int64_t> extents;
  };

  Image add(const std::vector<std::int64_t>& extents, Role role = Role::temporary) {
    return {builder_.add_tensor({.name = "t" + std::to_string(tensors_++), .shape = Shape(extents)}, role), extents};
  }
  const Image& any() { return random_.chance(50) ? images_.back() : images_[random_.below(images_.size())]; }
  void write(std::string type, std::vector<std::optional<TensorId>> reads, const std::vector<std::int64_t>& extents,
             std::vector<Attribute> attributes = {}) {
    const Image result = add(extents);
    builder_.add_node({.name = "n" + std::to_string(tensors_),
                       .type = std::move(type),
                       .inputs = std::move(reads),
                       .outputs = {result.id},
                       .attributes = std::move(attributes)});
    images_.push_back(result);
  }

  void add_node() {
    const Image image = any();
    static constexpr const char* kTypes[] = {
        "Conv", "Conv", "Exp", "Mul", "Add", "Concat", "MaxPool", "Softmax", "BatchNormalization", "Transpose"};
    const std::string type = kTypes[random_.below(10)];
    if (type == "Transpose") return add_channels_last(image);
    if (type == "Conv") return add_convolution(image);
    if (type == "BatchNormalization") {
      std::vector<std::optional<TensorId>> reads = {image.id};
      for (int at = 0; at < 4; ++at) reads.emplace_back(add({image.extents[1]}, Role::constant).id);
      return write(type, std::move(reads), image.extents, {{"epsilon", 0.25}});
    }
    if (type == "MaxPool")
      return write(type, {image.id}, image.extents, {{"kernel_shape", std::vector<std::int64_t>{1, 1}}});
    if (type == "Mul") {
      std::vector<std::int64_t> gate = image.extents;
      gate[2] = gate[3] = 1;
      return write(type, {image.id, random_.chance(50) ? one_.id : add(gate, Role::constant).id}, image.extents);
    }
    if (type == "Add") {
      const auto other = std::ranges::find_if(images_, [&](const Image& one) { return one.extents == image.extents; });
      return write(type, {image.id, other->id}, image.extents);
    }
    if (type == "Concat") {
      if (random_.chance(50)) return add_branches(image);
      const Image other = any();
      std::vector<std::int64_t> both = image.extents;
      both[1] += other.extents[1];
      return write(type, {image.id, other.id}, both, {{"axis", std::int64_t{random_.chance(50) ? 1 : -3}}});
    }
    write(type, {image.id}, image.extents);
  }

  // A node on an image whose channels are the last axis.
  void add_channels_last(const Image& image) {
    const std::vector<std::int64_t>& of = image.extents;
    const std::vector<std::int64_t> last = {of[0], of[2], of[3], of[1]};
    write("Transpose", {image.id}, last, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
    write("Softmax", {images_.back().id}, last);
    write("Transpose", {images_.back().id}, of, {{"perm", std::vector<std::int64_t>{0, 3, 1, 2}}});
    images_.erase(images_.end() - 3, images_.end() - 1);
  }

  // Results of convolutions that a convolution reads as one image.
  void add_branches(const Image& image) {
    std::vector<std::optional<TensorId>> reads;
    std::vector<std::int64_t> all = image.extents;
    all[1] = 0;
    for (std::int64_t count = random_.between(2, 3); count > 0; --count) {
      add_convolution(image);
      reads.emplace_back(images_.back().id);
      all[1] += images_.back().extents[1];
    }
    write("Concat", std::move(reads), all, {{"axis", std::int64_t{1}}});
    add_convolution(Image(images_.back()));
  }

  void add_convolution(const Image& image) {
    static constexpr std::int64_t kChannels[] = {8, 16, 24, 32, 48};
    std::vector<std::int64_t> result = image.extents;
    result[1] = kChannels[random_.below(5)];
    const std::int64_t window = random_.chance(30) ? 3 : 1;
    std::vector<std::optional<TensorId>> reads = {
        image.id, add({result[1], image.extents[1], window, window}, Role::constant).id};
    if (random_.chance(50)) reads.emplace_back(add({result[1]}, Role::constant).id);
    std::vector<Attribute> attributes;
    if (window == 3) attributes.push_back({"pads", std::vector<std::int64_t>{1, 1, 1, 1}});
    write("Conv", std::move(reads), result, std::move(attributes));
    if (random_.chance(50)) write("Exp", {images_.back().id}, result);
  }

  Random& random_;
  GraphBuilder builder_;
  std::vector<Image> images_;
  Image one_;
  int tensors_ = 0;
};

std::vector<Violation> faults(const Graph& model, const Graph& lowered, const Graph& load) {
  return verify_lowering(model, lowered, load);
}

// Damage that may apply to a node of a graph in the text form: other words for some words.
constexpr std::pair<const char*, const char*> kDamages[] = {
    {"input_format = \"nchw16c\"", "input_format = \"nchw8c\""},
    {"output_format = \"nchw16c\"", "output_format = \"plain\""},
    {"format = \"nchw16c\"", "format = \"nhwc\""},
    {", channels = 24", ""},
    {"channels = 24", "channels = 25"},
    {"channels = [24, ", "channels = [23, "},
    {", channels = [8, ", ", channels = [16, 8, "},
    {"strides = [1, 1]", "strides = [2, 1]"},
    {"dilations = [1, 1]", "dilations = [1, 2]"},
    {"pads = [0, 0, 0, 0]", "pads = [1, 0, 0, 0]"},
    {"group = 1", "group = 2"},
    {"order = \"packed\"", "order = \"other\""},
    {"weights = [16", "weights = [17"},
    {"algorithm = \"winograd\"", "algorithm = \"other\""},
    {"algorithm = \"winograd\"", "algorithm = 1"},
    {"axis = 1", "axis = 2"},
    {"Exp(", "Abs("},
    {"Add(", "Sub("},
    {"product = \"n", "product = \"m"},
    {"epilogue = [\"input t", "epilogue = [\"input u"},
    {"epsilon = 0.25", "epsilon = 0.5"},
    {"epsilon = 0.25", "epsilon = 0.25, training_mode = 1"},
    {"kernel_shape = [1, 1]", "kernel_shape = [2, 1]"},
    {"perm = [0, 2, 3, 1]", "perm = [0, 3, 2, 1]"},
    {"perm = [0, 3, 1, 2]", "perm = [0, 3, 2, 1]"},
};

// The violations of a graph whose text has a damage in a random place. Zero if it has no such words, or is no graph.
std::size_t found_after(const Graph& model, const Lowered& lowered, const std::pair<const char*, const char*>& damage,
                        bool& is_damaged) {
  const auto damaged = [&](const Graph& graph) {
    std::string text = print_graph(graph);
    const std::size_t at = text.find(damage.first);
    is_damaged = at != std::string::npos;
    if (is_damaged) text.replace(at, std::string_view(damage.first).size(), damage.second);
    Result<Graph> changed = parse_graph(text, "damaged");
    is_damaged = is_damaged && changed.ok();
    return changed;
  };
  const Result<Graph> run = damaged(lowered.graph);
  if (is_damaged) return faults(model, *run, lowered.load).size();
  const Result<Graph> load = damaged(lowered.load);
  return is_damaged ? faults(model, lowered.graph, *load).size() : 0;
}

bool has_operator(const Graph& graph, const std::string& name) {
  const auto has = [&](const Body& body) { return has_operator(*body.graph, name); };
  return std::ranges::any_of(graph.operators(), [&](const Operator& op) { return full_name(op) == name; }) ||
         std::ranges::any_of(graph.nodes(), [&](const Node& node) { return std::ranges::any_of(node.bodies, has); });
}

// A network, or one in both branches of an If.
Graph random_model(Random& random) {
  Graph network = RandomNetwork(random).make();
  if (random.chance(60)) return network;
  return testing::in_branches(network, [&](TensorId) { return random.chance(50); });
}

TEST(LowerRandomFormats, PassesGiveAGraphOnlyIfTheyChangeIt) {
  Random random(78);
  std::set<std::string_view> changing;
  for (int round = 0; round < 60; ++round)
    changing.merge(testing::run_each_pass(random_model(random), testing::block_formats()));
  for (std::string_view pass : {"load_time", "chains", "formats", "batch_norm", "inputs_in_arena", "outputs_at_caller"})
    EXPECT_TRUE(changing.contains(pass)) << pass;
}

TEST(LowerRandomFormats, ArePassedByTheVerifierUnlessDamaged) {
  Random random(77);
  int in_blocks = 0;
  int with_epilogues = 0;
  int with_winograd = 0;
  int with_padded_concat = 0;
  int with_transposes = 0;
  int with_packed_bodies = 0;
  int damages = 0;
  for (int round = 0; round < 400; ++round) {
    const Graph model = random_model(random);
    const Result<Lowered> lowered =
        lower(model, {.passes = testing::random_passes(random, {{PassId::unneeded, 50},
                                                                {PassId::load_time, 80},
                                                                {PassId::chains, 50},
                                                                {PassId::formats, 100},
                                                                {PassId::epilogues, 60},
                                                                {PassId::winograd, 85},
                                                                {PassId::outputs_at_caller, 30}}),
                      .machine = testing::block_formats()});
    ASSERT_TRUE(lowered.ok()) << lowered.error().describe();
    for (const Violation& violation : faults(model, lowered->graph, lowered->load))
      ADD_FAILURE() << violation.message << "\n" << print_graph(model) << print_graph(lowered->graph);
    in_blocks += std::ranges::count(lowered->passes, "formats") > 0 ? 1 : 0;
    with_epilogues += std::ranges::count(lowered->passes, "epilogues") > 0 ? 1 : 0;
    with_winograd += std::ranges::count(lowered->passes, "winograd") > 0 ? 1 : 0;
    with_padded_concat += has_operator(lowered->graph, "lowtide::Concat") ? 1 : 0;
    with_transposes += has_operator(lowered->graph, "lowtide::Transpose") ? 1 : 0;
    const bool has_body = lowered->graph.body_nesting() > 0;
    with_packed_bodies += has_body && has_operator(lowered->load, "lowtide::Pack") ? 1 : 0;
    for (const auto& damage : kDamages) {
      bool is_damaged = false;
      const std::size_t found = found_after(model, *lowered, damage, is_damaged);
      damages += is_damaged ? 1 : 0;
      EXPECT_EQ(found > 0, is_damaged) << damage.first << "\n" << print_graph(lowered->graph);
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(in_blocks, 150);
  EXPECT_GT(with_epilogues, 50);
  EXPECT_GT(with_winograd, 50);
  EXPECT_GT(with_padded_concat, 25);
  EXPECT_GT(with_transposes, 50);
  EXPECT_GT(with_packed_bodies, 50);
  EXPECT_GT(damages, 1000);
}

}  // namespace
}  // namespace lowtide
