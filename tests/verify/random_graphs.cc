// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/random_graphs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using Extents = std::vector<std::int64_t>;

struct Known {
  TensorId id;
  Extents extents;
  DType dtype = DType::u8;
  bool is_result = false;  // produced by a node
};

struct Frame {
  int nesting = 0;
  int nodes = 0;
  std::vector<Known> around;  // what a body may capture
  int inputs = 0;             // of a Loop's body
};

struct Finished {
  std::shared_ptr<const Graph> graph;
  std::vector<std::pair<TensorId, TensorId>> captures;
};

std::int64_t count(const Extents& extents) {
  std::int64_t product = 1;
  for (std::int64_t extent : extents) product *= extent;
  return product;
}

class RandomGraph {
 public:
  RandomGraph(Random& random, const Frame& frame)
      : random_(random), frame_(frame), maker_(frame.nesting > 0 ? "body" : "random") {}

  Finished make() {
    for (int at = 0; at < frame_.inputs; ++at) {
      const Extents extents = some_extents();
      keep(maker_.input(name(), extents), extents, DType::u8, false);
    }
    if (frame_.nesting == 0 || known_.empty()) add_source();
    for (int at = 0; at < frame_.nodes; ++at) add_node();
    const std::vector<TensorId> outputs = choose_outputs();
    update_states(outputs);
    Graph graph = maker_.make(outputs);
    return {std::make_shared<const Graph>(std::move(graph)), std::move(captures_)};
  }

 private:
  std::string name() { return "t" + std::to_string(next_name_++); }

  TensorId keep(TensorId id, Extents extents, DType dtype, bool is_result) {
    known_.push_back({id, std::move(extents), dtype, is_result});
    return id;
  }

  Extents some_extents() {
    Extents extents;
    for (std::uint64_t rank = random_.below(4); rank > 0; --rank) extents.push_back(random_.between(1, 4));
    if (random_.chance(40) && !extents.empty()) extents[0] = 1;
    if (random_.chance(3) && !extents.empty()) extents[random_.below(extents.size())] = 0;
    return extents;
  }

  DType some_dtype() {
    static constexpr DType kTypes[] = {DType::u8, DType::u8, DType::f16, DType::f32, DType::i32};
    return kTypes[random_.below(5)];
  }

  // Adds an input, a constant or a state. In a body, adds a constant or captures a tensor of the outer graph.
  const Known& add_source() {
    const Extents extents = some_extents();
    if (frame_.nesting > 0 && !frame_.around.empty() && random_.chance(70)) return capture();
    if (frame_.nesting == 0 && random_.chance(25)) {
      last_type_ = some_dtype();
      states_.push_back(keep(maker_.state(name(), extents, last_type_), extents, last_type_, false));
    } else if (frame_.nesting > 0 || random_.chance(30)) {
      keep(maker_.constant(name(), extents, last_type_), extents, last_type_, false);
    } else {
      last_type_ = some_dtype();
      keep(maker_.input(name(), extents, last_type_), extents, last_type_, false);
    }
    return known_.back();
  }

  const Known& capture() {
    const Known outer = frame_.around[random_.below(frame_.around.size())];
    for (const auto& [around, inner] : captures_) {
      if (around != outer.id) continue;
      return *std::find_if(known_.begin(), known_.end(),
                           [&, wanted = inner](const Known& one) { return one.id == wanted; });
    }
    const TensorId inner = maker_.captured(name(), outer.extents, Role::input, outer.dtype);
    captures_.emplace_back(outer.id, inner);
    std::sort(captures_.begin(), captures_.end());
    keep(inner, outer.extents, outer.dtype, false);
    return known_.back();
  }

  // Returns a copy, because `known_` may grow.
  Known some() {
    if (random_.chance(10)) return add_source();
    const std::size_t recent = std::min<std::size_t>(known_.size(), random_.chance(60) ? 3 : known_.size());
    return known_[known_.size() - 1 - random_.below(recent)];
  }

  TensorId result(const Extents& extents, DType dtype) {
    return keep(maker_.tensor(name(), extents, dtype), extents, dtype, true);
  }

  NodeId node(const std::string& type, std::vector<std::optional<TensorId>> inputs,
              std::vector<std::optional<TensorId>> outputs, std::vector<Attribute> attributes = {},
              std::vector<Body> bodies = {}) {
    std::vector<NodeId> after;
    if (nodes_ > 0 && random_.chance(8)) after.emplace_back(static_cast<std::uint32_t>(random_.below(nodes_)));
    ++nodes_;
    return maker_.node({.type = type,
                        .inputs = std::move(inputs),
                        .outputs = std::move(outputs),
                        .control_inputs = std::move(after),
                        .attributes = std::move(attributes),
                        .bodies = std::move(bodies)});
  }

  void add_node() {
    const Known x = some();
    switch (random_.below(frame_.nesting < 2 ? 15 : 13)) {
      case 0:
      case 1: return add_unary(x);
      case 2:
      case 3:
      case 4: return add_binary(x);
      case 5: return add_kernel(x);
      case 6:
      case 7: return add_whole_view(x);
      case 8:
      case 9: return add_slice(x);
      case 10: return add_split(x);
      case 11: return add_concat(x);
      case 12: return add_repeat(x);
      default: return random_.chance(60) ? add_if() : add_loop();
    }
  }

  void add_unary(const Known& x) {
    if (random_.chance(15)) {
      node("Cast", {x.id}, {result(x.extents, some_dtype())});
    } else if (random_.chance(15)) {
      const Extents slope = random_.chance(50) || x.extents.empty() ? x.extents : Extents{1};
      const TensorId id = random_.chance(20) && slope == x.extents ? x.id : maker_.constant(name(), slope, x.dtype);
      node("PRelu", {x.id, id}, {result(x.extents, x.dtype)});
    } else {
      node(random_.chance(50) ? "Relu" : "Neg", {x.id}, {result(x.extents, x.dtype)});
    }
  }

  // A tensor of the same type that broadcasts to x, without changing the shape of x.
  TensorId operand_for(const Known& x) {
    std::vector<TensorId> candidates;
    for (const Known& other : known_) {
      if (other.dtype == x.dtype && other.extents == x.extents) candidates.push_back(other.id);
    }
    if (random_.chance(70)) return candidates[random_.below(candidates.size())];
    Extents extents = x.extents;
    for (std::int64_t& extent : extents) {
      if (random_.chance(40)) extent = 1;
    }
    if (!extents.empty() && random_.chance(40)) extents.erase(extents.begin());
    if (random_.chance(50)) return maker_.constant(name(), extents, x.dtype);
    const TensorId id = result(extents, x.dtype);
    node("Mix", {x.id}, {id});
    return id;
  }

  void add_binary(const Known& x) {
    static const char* const kTypes[] = {"Add", "Add", "Mul", "Sub", "Sum"};
    const std::string type = kTypes[random_.below(5)];
    std::vector<std::optional<TensorId>> inputs{x.id, operand_for(x)};
    if (type == "Sum" && random_.chance(60)) inputs.emplace_back(operand_for(x));
    if (random_.chance(50)) std::swap(inputs[0], inputs[1]);
    Extents extents = x.extents;
    if (random_.chance(5)) extents.insert(extents.begin(), 1);  // as if one operand had that rank
    node(type, inputs, {result(extents, x.dtype)});
  }

  void add_kernel(const Known& x) {
    std::vector<std::optional<TensorId>> inputs{x.id};
    while (random_.chance(40) && inputs.size() < 4) inputs.emplace_back(some().id);
    if (random_.chance(10)) inputs.insert(inputs.begin(), std::nullopt);
    std::vector<std::optional<TensorId>> outputs{result(some_extents(), some_dtype())};
    while (random_.chance(40) && outputs.size() < 4) {
      outputs.emplace_back(random_.chance(20) ? std::nullopt : std::optional(result(some_extents(), some_dtype())));
    }
    node("Mix", inputs, outputs);
  }

  void add_whole_view(const Known& x) {
    static const char* const kTypes[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Dropout"};
    if (random_.chance(15)) return add_transpose(x);
    const std::string type = kTypes[random_.below(6)];
    Extents extents = x.extents;
    if (type == "Reshape" || type == "Flatten") extents = {count(x.extents)};
    if (type == "Unsqueeze") extents.insert(extents.begin(), 1);
    if (type == "Squeeze") std::erase(extents, 1);
    std::vector<std::optional<TensorId>> inputs{x.id};
    std::vector<std::optional<TensorId>> outputs{result(extents, x.dtype)};
    if (type == "Reshape") inputs.emplace_back(maker_.integers(name(), {-1}));
    if (type == "Dropout" && random_.chance(20)) {
      inputs = {x.id, std::nullopt, maker_.integers(name(), {random_.between(0, 1)})};
    }
    if (type == "Dropout" && random_.chance(20)) outputs.emplace_back(result(x.extents, DType::u8));
    node(type, inputs, outputs);
  }

  void add_transpose(const Known& x) {
    Extents axes, extents;
    for (std::int64_t axis = 0; axis < x_rank(x); ++axis) {
      axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(random_.below(axes.size() + 1)), axis);
    }
    for (const std::int64_t axis : axes) extents.push_back(x.extents[static_cast<std::size_t>(axis)]);
    node("Transpose", {x.id}, {result(extents, x.dtype)}, {integers("perm", axes)});
  }

  void add_slice(const Known& x) {
    Extents starts, ends, axes, steps, extents = x.extents;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      const std::int64_t extent = extents[axis];
      if (extent == 0 || random_.chance(50)) continue;
      const std::int64_t begin = random_.between(0, extent - 1);
      std::int64_t end = random_.between(begin, extent);
      std::int64_t step = random_.chance(80) ? 1 : random_.between(2, 3);
      const bool is_backwards = random_.chance(8);
      extents[axis] = (end - begin + step - 1) / step;
      axes.push_back(random_.chance(30) ? static_cast<std::int64_t>(axis) - x_rank(x)
                                        : static_cast<std::int64_t>(axis));
      if (is_backwards) {
        // Counts from the end of the axis, downwards.
        step = -step;
        starts.push_back(-1 - begin);
        ends.push_back(-1 - end);
      } else {
        starts.push_back(random_.chance(30) ? begin - extent : begin);
        ends.push_back(end == extent && random_.chance(50) ? extent + 7 : end);
      }
      steps.push_back(step);
    }
    const bool is_plain = std::all_of(steps.begin(), steps.end(), [](std::int64_t step) { return step == 1; });
    const TensorId y = result(extents, x.dtype);
    if (is_plain && random_.chance(50)) {
      node("Slice", {x.id}, {y}, {integers("starts", starts), integers("ends", ends), integers("axes", axes)});
      return;
    }
    node("Slice",
         {x.id, maker_.integers(name(), starts), maker_.integers(name(), ends), maker_.integers(name(), axes),
          maker_.integers(name(), steps)},
         {y});
  }

  static std::int64_t x_rank(const Known& x) { return static_cast<std::int64_t>(x.extents.size()); }

  // Prefers the outermost axis that can be divided.
  std::size_t some_axis(const Known& x) {
    std::size_t axis = random_.below(x.extents.size());
    if (random_.chance(60)) {
      for (axis = 0; axis + 1 < x.extents.size() && x.extents[axis] == 1;) ++axis;
    }
    return axis;
  }

  void add_split(const Known& x) {
    if (x.extents.empty()) return add_unary(x);
    const std::size_t axis = some_axis(x);
    std::int64_t left = x.extents[axis];
    Extents sizes;
    while (left > 0 || sizes.empty()) {
      sizes.push_back(random_.between(random_.chance(10) ? 0 : std::min<std::int64_t>(1, left), left));
      left -= sizes.back();
    }
    std::vector<std::optional<TensorId>> outputs;
    for (std::int64_t size : sizes) {
      Extents extents = x.extents;
      extents[axis] = size;
      outputs.emplace_back(result(extents, x.dtype));
    }
    std::vector<std::optional<TensorId>> inputs{x.id};
    if (random_.chance(50)) inputs.emplace_back(maker_.integers(name(), sizes));
    node("Split", inputs, outputs, {integer("axis", static_cast<std::int64_t>(axis))});
  }

  void add_concat(const Known& x) {
    if (x.extents.empty()) return add_unary(x);
    const std::size_t axis = some_axis(x);
    std::vector<std::optional<TensorId>> inputs{x.id};
    Extents extents = x.extents;
    for (std::uint64_t more = random_.between(0, 2); more > 0; --more) {
      std::vector<Known> fitting;
      for (const Known& other : known_) {
        Extents same = other.extents;
        if (other.dtype != x.dtype || same.size() != extents.size()) continue;
        same[axis] = extents[axis];
        if (same == extents) fitting.push_back(other);
      }
      const Known& other = fitting[random_.below(fitting.size())];
      if (count(extents) + count(other.extents) > 64) break;
      extents[axis] += other.extents[axis];
      inputs.emplace_back(other.id);
    }
    node("Concat", inputs, {result(extents, x.dtype)},
         {integer("axis", static_cast<std::int64_t>(axis) - (random_.chance(30) ? x_rank(x) : 0))});
  }

  void add_repeat(const Known& x) {
    Extents extents = x.extents;
    const bool is_tile = random_.chance(50);
    for (std::int64_t& extent : extents) {
      if (random_.chance(30) && (is_tile || extent == 1) && count(extents) <= 32) extent *= random_.between(1, 2);
    }
    if (!is_tile && random_.chance(50)) extents.insert(extents.begin(), 1);
    node(is_tile ? "Tile" : "Expand", {x.id}, {result(extents, x.dtype)});
  }

  Body some_body(const std::string& body_name, int inputs) {
    Frame frame{
        .nesting = frame_.nesting + 1, .nodes = static_cast<int>(random_.below(5)), .around = known_, .inputs = inputs};
    Finished finished = RandomGraph(random_, frame).make();
    return {body_name, std::move(finished.graph), std::move(finished.captures)};
  }

  void add_if() {
    std::vector<std::optional<TensorId>> inputs{some().id};
    std::vector<Body> bodies{some_body("then_branch", 0), some_body("else_branch", 0)};
    node("If", inputs, {result(some_extents(), some_dtype())}, {}, std::move(bodies));
  }

  void add_loop() {
    std::vector<std::optional<TensorId>> inputs{std::nullopt, some().id};
    std::vector<Body> bodies{some_body("body", static_cast<int>(random_.between(1, 3)))};
    node("Loop", inputs, {result(some_extents(), some_dtype()), result(some_extents(), some_dtype())}, {},
         std::move(bodies));
  }

  // Some states get the content of another tensor after the run, or of a new one if none fits.
  void update_states(const std::vector<TensorId>& outputs) {
    const auto is_state = [&](TensorId id) { return std::count(states_.begin(), states_.end(), id) > 0; };
    for (TensorId state : states_) {
      if (random_.chance(15) || std::count(outputs.begin(), outputs.end(), state) > 0) continue;
      const Known old = *std::find_if(known_.begin(), known_.end(), [&](const Known& one) { return one.id == state; });
      std::vector<TensorId> fitting;
      for (const Known& one : known_) {
        const bool fits = one.dtype == old.dtype && count(one.extents) == count(old.extents) && !is_state(one.id);
        if (fits && (one.is_result || random_.chance(20))) fitting.push_back(one.id);
      }
      if (fitting.empty() || random_.chance(40)) {
        fitting = {result(old.extents, old.dtype)};
        node(random_.chance(70) ? "Relu" : "Mix", {old.id}, {fitting[0]});
      }
      maker_.update(state, fitting[random_.below(fitting.size())]);
    }
  }

  std::vector<TensorId> choose_outputs() {
    std::vector<TensorId> outputs;
    for (const Known& one : known_) {
      if (one.is_result ? random_.chance(15) : random_.chance(4)) outputs.push_back(one.id);
    }
    if (outputs.empty()) outputs.push_back(known_.back().id);
    if (random_.chance(5)) outputs.push_back(outputs[0]);
    return outputs;
  }

  Random& random_;
  Frame frame_;
  GraphMaker maker_;
  std::vector<Known> known_;
  std::vector<std::pair<TensorId, TensorId>> captures_;
  std::vector<TensorId> states_;
  DType last_type_ = DType::u8;
  int next_name_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace

std::shared_ptr<const Graph> random_graph(Random& random) {
  const Frame frame{.nodes = static_cast<int>(random.below(13)), .around = {}};
  return RandomGraph(random, frame).make().graph;
}

}  // namespace lowtide::testing
