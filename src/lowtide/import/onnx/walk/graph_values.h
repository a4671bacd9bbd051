// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/builder.h"
#include "lowtide/import/onnx/proto/constant_sources.h"
#include "lowtide/import/onnx/proto/constants.h"
#include "lowtide/import/onnx/proto/opsets.h"
#include "lowtide/import/onnx/proto/types.h"
#include "lowtide/import/onnx/walk/findings.h"
#include "lowtide/import/onnx/walk/upper_bounds.h"
#include "lowtide/import/onnx/walk/wiring.h"

namespace lowtide::import_internal {

// The state that all walks over one model share.
struct WalkContext {
  const OpsetScopes& opsets;
  int ir_version;
  Dims dims;                               // symbols that are bound
  const std::set<std::string>& overrides;  // inputs of the model that are not constants, despite their initializers
  ContentBudget content;                   // limits the known content that is held at once
  ConstantSources constants;
  FreeNames free_names;

  // The work that is left. The body of a Loop is inferred again until the sizes of its states are stable, and this
  // multiplies along nested loops. Computing the contents of small tensors is limited as well.
  std::int64_t node_visits_left;
  std::int64_t content_work_left;  // elements

  UpperBounds bounds;           // that the user gives
  bool keeps_open = false;      // ImportOptions::keeps_open_sizes
  bool has_open_input = false;  // whether a size of an input of the model is not known

  // Whether the error being returned comes from sizes that do not fit each other, or exceed a limit. Such a graph
  // cannot run with these sizes.
  bool is_error_of_sizes = false;
};

// A tensor of the outer graph that a body reads.
struct NamedCapture {
  std::uint32_t outer_name = 0;  // in the wiring of the outer graph
  TensorId inner;
};

// The names of one graph during a walk, what is known of them, and the tensors that they become.
class GraphValues {
 public:
  // What is known of a name. A captured name becomes a tensor only if a node that may run reads it. A name that only
  // dead branches capture does not become one.
  struct Value {
    TensorFact fact;
    std::optional<TensorId> tensor;
    std::uint32_t reads_left = 0;  // the fact is discarded at 0
    bool is_made = false;
    bool is_constant = false;
  };

  // What is known about a tensor besides its type.
  struct Declaration {
    Role role = Role::temporary;
    UnknownSize::Cause unknown = UnknownSize::Cause::inherited;
    std::string_view maker;              // place; empty for an input
    std::string_view way_out;            // what to do if it is not a tensor of numbers, as the end of a sentence
    std::optional<ConstantId> constant;  // Tensor::constant
  };

  // `around`: the values of the outer graph if this graph is a body, otherwise nullptr. All arguments must outlive
  // this object.
  GraphValues(WalkContext& context, const onnx::GraphProto& graph, GraphValues* around)
      : context_(context), graph_(graph), around_(around), builder_(graph.name()) {}

  // Numbers the names and orders the nodes. Errors: those of Wiring::make.
  [[nodiscard]] Result<void> wire();
  // Frees the memory for names and values, because building a large graph needs it.
  void forget_names();

  [[nodiscard]] bool is_body() const { return around_ != nullptr; }
  [[nodiscard]] const Wiring& wiring() const { return wiring_; }
  [[nodiscard]] GraphBuilder& builder() { return builder_; }
  [[nodiscard]] Findings& findings() { return findings_; }
  [[nodiscard]] std::vector<NamedCapture>& captures() { return captures_; }
  // The fact of a name that has a producer.
  [[nodiscard]] const TensorFact& fact(std::uint32_t name) const { return values_[name].fact; }

  // Returns the value of a name that this graph or an outer graph produces. Returns nullptr if neither does.
  [[nodiscard]] Value* find(std::uint32_t name);
  // Checks that every name has a producer. Errors: invalid.
  [[nodiscard]] Result<void> require(std::span<const std::uint32_t> names, const std::string& place);
  // Whether an outer graph produces the name.
  [[nodiscard]] bool is_made_around(std::string_view name) const;
  // Returns the tensor of a value in this graph, and captures it first if necessary. Requires: the value is produced,
  // and its fact is not discarded.
  TensorId tensor_of(std::uint32_t name);
  // Adds the tensor of a name that this graph produces. Errors: over_limit.
  [[nodiscard]] Result<TensorId> add_tensor(std::uint32_t name, TensorFact fact, const Declaration& declaration);
  // Makes bounds unknown that are too large to be useful, such as that of a Slice to the end of an open axis.
  void forget_useless_bounds(std::uint32_t name, TensorFact& fact) const;
  // Counts one read of each name, and discards facts that have no reads left.
  void release(std::span<const std::uint32_t> names);

  // The name, quoted for messages.
  [[nodiscard]] std::string shown(std::uint32_t name) const;

 private:
  void override_initializers();
  void note_findings(std::uint32_t name, const TensorFact& fact, const Declaration& declaration);
  void note_open(TensorId tensor, const TensorFact& fact);
  void set_known_integers(TensorId tensor, const TensorFact& fact, Role role);
  [[nodiscard]] Result<void> limit_content(TensorFact& fact);
  void forget_if_unread(Value& value);

  WalkContext& context_;
  const onnx::GraphProto& graph_;
  GraphValues* around_;
  GraphBuilder builder_;
  Wiring wiring_;
  std::vector<Value> values_;  // by name
  std::vector<NamedCapture> captures_;
  Findings findings_;
};

}  // namespace lowtide::import_internal
