// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/random_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "lowtide/graph/builder.h"

namespace lowtide::testing {
namespace {

template <typename T>
void shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t at = items.size(); at > 1; --at) std::swap(items[at - 1], items[random.below(at)]);
}

double random_real(Random& random) {
  switch (random.below(5)) {
    case 0: return static_cast<double>(random.between(-3, 3)) * 0.5;
    case 1: return static_cast<double>(static_cast<float>(random.between(-1000, 1000)) / 777.0F);
    case 2: return static_cast<double>(random.between(-1000, 1000)) / 777.0;
    default: return std::bit_cast<double>(random.next() | (random.chance(20) ? 0x7FF0000000000000U : 0U));
  }
}

std::int64_t random_integer(Random& random) {
  return random.chance(80) ? random.between(-9, 9) : std::bit_cast<std::int64_t>(random.next());
}

AttributeValue random_value(Random& random) {
  const auto many = [&](auto make) {
    std::vector<decltype(make(random))> items;
    for (std::uint64_t count = random.below(4); count > 0; --count) items.push_back(make(random));
    return items;
  };
  switch (random.below(7)) {
    case 0: return random_integer(random);
    case 1: return random_real(random);
    case 2: return random_name(random);
    case 3: return many(random_integer);
    case 4: return many(random_real);
    case 5: return many(random_name);
    default: return OpaqueAttribute{random_name(random)};
  }
}

struct Type {
  DType dtype = DType::f32;
  Shape shape;
};

Type random_type(Random& random) {
  Type type;
  type.dtype = static_cast<DType>(random.below(static_cast<std::uint64_t>(DType::string)));
  std::vector<std::int64_t> extents(random.below(4));
  for (std::int64_t& extent : extents) extent = random.between(0, 4);
  type.shape = Shape(extents);
  for (int axis = 0; axis < type.shape.rank(); ++axis) {
    if (random.chance(20)) type.shape.mark_at_most(axis);
  }
  return type;
}

// Builds one graph. Another maker builds each body, with the tensors that it may capture.
class GraphMaker {
 public:
  GraphMaker(Random& random, int nesting) : random_(random), nesting_(nesting), builder_(random_name(random)) {}

  // Returns the tensor that stands for each type of `captured`.
  std::vector<TensorId> declare(const std::vector<Type>& captured) {
    std::vector<TensorId> inner;
    for (const Type& type : captured) {
      inner.push_back(add(type, random_.chance(50) ? Role::input : Role::constant, true));
      available_.push_back(inner.back());
    }
    for (std::uint64_t count = random_.below(12); count > 0; --count) {
      const auto role = std::array{Role::input,     Role::constant,  Role::state,
                                   Role::temporary, Role::temporary, Role::temporary}[random_.below(6)];
      const TensorId id = add(random_type(random_), role, false);
      if (role == Role::state) {
        states_.push_back(id);
        if (random_.chance(50)) available_.push_back(add(Type(types_[id.index()]), Role::input, false));
      }
      (role == Role::temporary ? waiting_ : available_).push_back(id);
    }
    return inner;
  }

  Graph finish() {
    if (random_.chance(50)) shuffle(waiting_, random_);
    for (std::uint64_t without_outputs = random_.below(2); !waiting_.empty() || without_outputs > 0;) {
      if (waiting_.empty()) --without_outputs;
      add_node();
    }
    std::vector<TensorId> outputs;
    for (std::uint64_t count = available_.empty() ? 0 : random_.below(4); count > 0; --count) outputs.push_back(any());
    builder_.set_outputs(outputs);
    for (TensorId state : states_) {
      const TensorId next = any();
      const Type& type = types_[state.index()];
      const bool fits = types_[next.index()].dtype == type.dtype && types_[next.index()].shape == type.shape;
      const bool is_output = std::find(outputs.begin(), outputs.end(), state) != outputs.end();
      if (fits && !is_output && std::find(states_.begin(), states_.end(), next) == states_.end()) {
        builder_.add_state_update(state, next);
      }
    }
    return std::move(builder_).build().value();
  }

 private:
  TensorId add(const Type& type, Role role, bool is_captured) {
    std::string name = random_name(random_);
    while (name.empty() || !names_.insert(name).second) name += std::to_string(random_.below(10));
    GraphBuilder::TensorSpec spec{.name = name, .dtype = type.dtype, .shape = type.shape, .is_captured = is_captured};
    if (role == Role::constant && !is_captured && types_.size() % 2 == 0) {
      spec.constant = ConstantId(static_cast<std::uint32_t>(types_.size()));
    }
    const TensorId id = builder_.add_tensor(std::move(spec), role);
    types_.push_back(type);
    if (random_.chance(20)) {
      std::vector<std::int64_t> content(static_cast<std::size_t>(element_count(type.shape).value()));
      for (std::int64_t& element : content) element = random_integer(random_);
      builder_.set_known_integers(id, std::move(content));
    }
    return id;
  }

  TensorId any() { return available_[random_.below(available_.size())]; }

  void add_node() {
    GraphBuilder::NodeSpec spec{.name = random_.chance(30) ? "" : random_name(random_),
                                .domain = random_.chance(70) ? "" : random_name(random_),
                                .type = random_.chance(70) ? "Relu" : random_name(random_)};
    for (std::uint64_t count = random_.below(4); count > 0; --count) {
      spec.inputs.push_back(available_.empty() || random_.chance(10) ? std::optional<TensorId>() : any());
    }
    for (std::uint64_t count = waiting_.empty() ? 0 : 1 + random_.below(3); count > 0 && !waiting_.empty(); --count) {
      if (random_.chance(10)) spec.outputs.emplace_back(std::nullopt);
      spec.outputs.emplace_back(waiting_.back());
      waiting_.pop_back();
    }
    while (nodes_ > 0 && random_.chance(20)) {
      spec.control_inputs.emplace_back(static_cast<std::uint32_t>(random_.below(nodes_)));
    }
    while (random_.chance(40)) spec.attributes.push_back({random_name(random_), random_value(random_)});
    while (nesting_ > 0 && random_.chance(20)) spec.bodies.push_back(make_body());
    for (const std::optional<TensorId>& output : spec.outputs) {
      if (output) available_.push_back(*output);
    }
    builder_.add_node(std::move(spec));
    ++nodes_;
  }

  Body make_body() {
    Body body{.name = random_name(random_)};
    std::set<TensorId> outer;
    while (!available_.empty() && random_.chance(50)) outer.insert(any());
    std::vector<Type> types;
    for (TensorId id : outer) types.push_back(types_[id.index()]);
    GraphMaker maker(random_, nesting_ - 1);
    const std::vector<TensorId> inner = maker.declare(types);
    std::size_t at = 0;
    for (TensorId id : outer) body.captures.emplace_back(id, inner[at++]);
    body.graph = std::make_shared<const Graph>(maker.finish());
    return body;
  }

  Random& random_;
  int nesting_;
  GraphBuilder builder_;
  std::set<std::string> names_;
  std::vector<Type> types_;
  std::vector<TensorId> available_;  // may be read by the next node
  std::vector<TensorId> waiting_;    // have no producer yet
  std::vector<TensorId> states_;
  std::uint64_t nodes_ = 0;
};

}  // namespace

std::string random_name(Random& random) {
  static const std::vector<std::string> kWords = {
      "x",     "input", "output", "_",  "node", "/layer/Conv_output_0", "after",  "graph",  "42",        "a b",
      "x # y", "\"",    "\\x41",  "\n", "inf",  "onnx::Conv_12",        "opaque", "tensor", "é\xC2\x85", "int"};
  if (random.chance(60)) return kWords[random.below(kWords.size())];
  std::string name;
  for (std::uint64_t count = random.below(8); count > 0; --count) name += static_cast<char>(random.below(256));
  return name;
}

Graph random_graph(Random& random, int nesting) {
  GraphMaker maker(random, nesting);
  (void)maker.declare({});
  return maker.finish();
}

}  // namespace lowtide::testing
