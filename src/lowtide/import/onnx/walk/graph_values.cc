// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/walk/graph_values.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
namespace {

constexpr std::int64_t kMostComputedIntegers = 1024;

bool is_exact(const TensorFact& fact) {
  return fact.known.extents && std::all_of(fact.known.extents->begin(), fact.known.extents->end(),
                                           [](const auto& extent) { return extent.knowledge == Knowledge::exact; });
}

struct DenseType {
  DType dtype = DType::f32;
  Shape shape;
};

// Unknown extents become 0. A graph with unknown extents is walked to its end, so that all can be listed, but never
// returned.
Shape shape_of(const TensorFact& fact) {
  if (!fact.known.extents) return Shape();
  std::vector<std::int64_t> extents;
  extents.reserve(fact.known.extents->size());
  for (const KnownExtent& extent : *fact.known.extents) {
    extents.push_back(extent.knowledge == Knowledge::unknown ? 0 : extent.extent);
  }
  Shape shape(std::move(extents));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if ((*fact.known.extents)[static_cast<std::size_t>(axis)].knowledge == Knowledge::at_most) shape.mark_at_most(axis);
  }
  return shape;
}

// The bound with which the walk goes on (UnknownSize).
constexpr std::int64_t kAssumedExtent = 1024;

void assume_bounds(TensorFact& fact) {
  if (!fact.known.extents) return;
  for (KnownExtent& extent : *fact.known.extents) {
    if (extent.knowledge == Knowledge::unknown) extent = {Knowledge::at_most, kAssumedExtent, extent.symbol};
  }
}

// A value that is not a dense tensor is a finding; a scalar takes its place.
DenseType dense_type_of(const TensorFact& fact) {
  const bool has_size = fact.is_tensor && fact.known.dtype && *fact.known.dtype != DType::string;
  return has_size ? DenseType{*fact.known.dtype, shape_of(fact)} : DenseType{};
}

}  // namespace

Result<void> GraphValues::wire() {
  LOWTIDE_TRY(Wiring wiring, Wiring::make(graph_, context_.free_names));
  wiring_ = std::move(wiring);
  if (around_ == nullptr) override_initializers();
  if (!wiring_.was_sorted) findings_.sorted_graphs.push_back(quoted(graph_.name()));
  values_.resize(wiring_.names.size());
  for (std::size_t name = 0; name < values_.size(); ++name) values_[name].reads_left = wiring_.names[name].reads;
  return {};
}

// Before IR version 4, every initializer is listed as an input.
void GraphValues::override_initializers() {
  constexpr int kFirstVersionWithDefaults = 4;
  if (context_.ir_version < kFirstVersionWithDefaults) return;
  for (int at = 0; at < graph_.input_size(); ++at) {
    if (!context_.overrides.contains(graph_.input(at).name())) continue;
    Wiring::Name& name = wiring_.names[wiring_.index_of.at(graph_.input(at).name())];
    name.source = Source::input;
    name.index = static_cast<std::uint32_t>(at);
  }
}

void GraphValues::forget_names() {
  values_ = {};
  wiring_ = {};
}

std::string GraphValues::shown(std::uint32_t name) const { return quoted(wiring_.names[name].text); }

GraphValues::Value* GraphValues::find(std::uint32_t name) {
  Value& value = values_[name];
  if (value.is_made) return &value;
  if (around_ == nullptr || wiring_.names[name].source != Source::outside) return nullptr;
  // The outer graph knows every name that its bodies take from outside.
  const std::optional<std::uint32_t> outer_name = around_->wiring_.find(wiring_.names[name].text);
  const Value* outer = outer_name ? around_->find(*outer_name) : nullptr;
  if (outer == nullptr) return nullptr;
  value.fact = outer->fact;
  if (value.fact.known.content != nullptr &&
      !context_.content.take(static_cast<std::int64_t>(value.fact.known.content->elements.size()))) {
    value.fact.known.content = nullptr;
  }
  value.is_made = true;
  value.is_constant = outer->is_constant;
  return &value;
}

// The outer graph has recorded the findings of its own tensors, so a captured tensor adds none.
TensorId GraphValues::tensor_of(std::uint32_t name) {
  Value& value = values_[name];
  if (value.tensor) return *value.tensor;
  LOWTIDE_CHECK(value.is_made && around_ != nullptr, "a value without a tensor is captured from the outer graph");
  const std::optional<std::uint32_t> outer_name = around_->wiring_.find(wiring_.names[name].text);
  LOWTIDE_CHECK(outer_name.has_value(), "the outer graph knows every name that its bodies capture");
  const Role role = value.is_constant ? Role::constant : Role::input;
  DenseType type = dense_type_of(value.fact);
  value.tensor =
      builder_.add_tensor({std::string(wiring_.names[name].text), type.dtype, std::move(type.shape), true}, role);
  set_known_integers(*value.tensor, value.fact, role);
  captures_.push_back({*outer_name, *value.tensor});
  return *value.tensor;
}

Result<void> GraphValues::require(std::span<const std::uint32_t> names, const std::string& place) {
  for (std::uint32_t name : names) {
    if (name != Wiring::kLeftOut && find(name) == nullptr) {
      return Error{ErrorCode::invalid, "reads " + shown(name) + ", but no node, input or initializer produces it",
                   place};
    }
  }
  return {};
}

bool GraphValues::is_made_around(std::string_view name) const {
  for (const GraphValues* outer_graph = around_; outer_graph != nullptr; outer_graph = outer_graph->around_) {
    const std::optional<std::uint32_t> outer = outer_graph->wiring_.find(name);
    if (outer && outer_graph->values_[*outer].is_made) return true;
  }
  return false;
}

void GraphValues::forget_useless_bounds(std::uint32_t name, TensorFact& fact) const {
  if (!fact.known.extents) return;
  const DenseType type = dense_type_of(fact);
  if (dense_size(type.dtype, type.shape).ok()) return;
  for (std::size_t axis = 0; axis < fact.known.extents->size(); ++axis) {
    KnownExtent& extent = (*fact.known.extents)[axis];
    if (extent.knowledge != Knowledge::at_most) continue;
    const std::string own = extent_symbol(std::string(wiring_.names[name].text), axis);
    extent = {Knowledge::unknown, 0, extent.symbol.empty() ? own : extent.symbol};
  }
}

Result<TensorId> GraphValues::add_tensor(std::uint32_t name, TensorFact fact, const Declaration& declaration) {
  Value& value = values_[name];
  note_findings(name, fact, declaration);
  if (declaration.unknown == UnknownSize::Cause::node && !context_.keeps_open) assume_bounds(fact);
  if (declaration.role != Role::constant) LOWTIDE_RETURN_IF_ERROR(limit_content(fact));
  DenseType type = dense_type_of(fact);
  const Result<Bytes> size = dense_size(type.dtype, type.shape);
  if (!size) {
    context_.is_error_of_sizes = true;
    return located(size.error(), "", "tensor " + shown(name));
  }
  value.is_made = true;
  value.is_constant = declaration.role == Role::constant;
  value.tensor = builder_.add_tensor({.name = std::string(wiring_.names[name].text),
                                      .dtype = type.dtype,
                                      .shape = std::move(type.shape),
                                      .constant = declaration.constant},
                                     declaration.role);
  set_known_integers(*value.tensor, fact, declaration.role);
  if (context_.keeps_open && !is_sized(fact)) note_open(*value.tensor, fact);
  value.fact = std::move(fact);
  forget_if_unread(value);
  return *value.tensor;
}

void GraphValues::note_open(TensorId tensor, const TensorFact& fact) {
  OpenSizes::OpenTensor& open = findings_.open_tensors.emplace_back();
  open.tensor = tensor;
  if (!fact.known.extents) return;
  open.extents.emplace();
  for (const KnownExtent& extent : *fact.known.extents) {
    open.extents->push_back(describe(extent));
    open.symbols.push_back(extent.knowledge == Knowledge::unknown ? extent.symbol : "");
  }
}

void GraphValues::note_findings(std::uint32_t name, const TensorFact& fact, const Declaration& declaration) {
  const std::string text(wiring_.names[name].text);
  const auto unknown = [&](std::optional<int> axis, const std::string& symbol) {
    findings_.unknown.push_back(
        {declaration.unknown, text, axis, symbol, std::string(declaration.maker), describe(fact)});
  };
  if (!fact.is_tensor || fact.known.dtype == DType::string) {
    findings_.unsupported.push_back(quoted(text) + " is " + (fact.is_tensor ? "a tensor of strings" : describe(fact)) +
                                    std::string(declaration.way_out) +
                                    (declaration.maker.empty() ? "" : " (" + std::string(declaration.maker) + ")"));
    return;
  }
  if (!fact.known.dtype || !fact.known.extents) {
    unknown(std::nullopt, "");
    return;
  }
  bool has_upper_bounds = false;
  for (std::size_t axis = 0; axis < fact.known.extents->size(); ++axis) {
    const KnownExtent& extent = (*fact.known.extents)[axis];
    if (extent.knowledge == Knowledge::unknown) unknown(static_cast<int>(axis), extent.symbol);
    has_upper_bounds = has_upper_bounds || extent.knowledge == Knowledge::at_most;
  }
  if (has_upper_bounds) findings_.upper_bounds.push_back(quoted(text));
}

void GraphValues::set_known_integers(TensorId tensor, const TensorFact& fact, Role role) {
  const KnownContent* content = fact.known.content.get();
  if (content == nullptr || !is_integer(content->dtype)) return;
  const std::int64_t most = role == Role::constant ? limits::kMaxFoldedElements : kMostComputedIntegers;
  if (static_cast<std::int64_t>(content->elements.size()) > most || !is_exact(fact)) return;
  std::vector<std::int64_t> integers;
  integers.reserve(content->elements.size());
  for (const KnownElement& element : content->elements) {
    if (element.knowledge != Knowledge::exact) return;
    integers.push_back(element.integer);
  }
  builder_.set_known_integers(tensor, std::move(integers));
}

// Content beyond the budget is not kept. Work that exceeds any real model is refused.
Result<void> GraphValues::limit_content(TensorFact& fact) {
  if (fact.known.content == nullptr) return {};
  const auto elements = static_cast<std::int64_t>(fact.known.content->elements.size());
  context_.content_work_left -= elements;
  if (context_.content_work_left < 0) {
    return Error{ErrorCode::over_limit,
                 "computing the contents of small tensors exceeds the limit on work (content_work_left)", ""};
  }
  if (!context_.content.take(elements)) fact.known.content = nullptr;
  return {};
}

void GraphValues::release(std::span<const std::uint32_t> names) {
  for (std::uint32_t name : names) {
    if (name == Wiring::kLeftOut) continue;
    Value& value = values_[name];
    --value.reads_left;
    forget_if_unread(value);
  }
}

void GraphValues::forget_if_unread(Value& value) {
  if (value.reads_left > 0) return;
  if (value.fact.known.content != nullptr) {
    context_.content.give_back(static_cast<std::int64_t>(value.fact.known.content->elements.size()));
  }
  value.fact = TensorFact();
}

}  // namespace lowtide::import_internal
