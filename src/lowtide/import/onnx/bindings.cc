// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/bindings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
namespace {

using Names = std::set<std::string>;

Error invalid(const std::string& message, const std::string& place) { return {ErrorCode::invalid, message, place}; }

std::string shown_names(const Names& names) {
  constexpr std::size_t kMost = 20;
  if (names.empty()) return "none";
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown == kMost) return text + " and " + std::to_string(names.size() - kMost) + " more";
    text += (shown++ == 0 ? "" : ", ") + quoted(name);
  }
  return text;
}

void add_symbols(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values, Names& symbols) {
  for (const onnx::ValueInfoProto& value : values) {
    for (const auto& dimension : value.type().tensor_type().shape().dim()) {
      if (!dimension.dim_param().empty()) symbols.insert(dimension.dim_param());
    }
  }
}

// Finds a name that the user typed as it is in the model, or with the escapes of messages. Returns nullopt if `names`
// lacks it.
std::optional<std::string> name_given(const std::string& given, const Names& names) {
  if (names.contains(given)) return given;
  std::string meant;
  if (unescaped(given, meant) && names.contains(meant)) return meant;
  return std::nullopt;
}

std::string option_of(const std::string& input) { return "--shape " + quoted(input); }

class Binder {
 public:
  Binder(const onnx::GraphProto& graph, const ImportOptions& options) : graph_(graph), options_(options) {}

  Result<BoundInputs> bind() {
    LOWTIDE_RETURN_IF_ERROR(check_dims());
    LOWTIDE_RETURN_IF_ERROR(find_inputs());
    for (const auto& [input, extents] : shapes_) LOWTIDE_RETURN_IF_ERROR(bind_shape(input, extents));
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      Result<TensorFact> fact = fact_from_type(input.type(), bound_.dims);
      if (!fact) return located(fact.error(), place_of_graph(graph_.name()), "input " + quoted(input.name()));
      apply_shape(input.name(), *fact);
      bound_.facts.push_back(*std::move(fact));
    }
    return std::move(bound_);
  }

 private:
  Result<void> check_dims() {
    Names symbols;
    add_symbols(graph_.input(), symbols);
    add_symbols(graph_.value_info(), symbols);
    add_symbols(graph_.output(), symbols);
    for (const auto& [given, extent] : options_.dims) {
      const std::optional<std::string> symbol = name_given(given, symbols);
      if (!symbol) {
        Names of_inputs;
        add_symbols(graph_.input(), of_inputs);
        return invalid(
            "the model has no symbol " + quoted(given) + "; the symbols of its inputs: " + shown_names(of_inputs),
            "--dim");
      }
      if (extent < 0) {
        return invalid(
            "symbol " + quoted(*symbol) + " cannot be " + std::to_string(extent) + "; give an extent of at least 0",
            "--dim");
      }
      const auto [earlier, is_new] = bound_.dims.try_emplace(*symbol, extent);
      if (is_new) {
        origin_[*symbol] = "--dim";
      } else if (earlier->second != extent) {
        return invalid("symbol " + quoted(*symbol) + " is given two values, " + std::to_string(earlier->second) +
                           " and " + std::to_string(extent) + "; give one",
                       "--dim");
      }
    }
    return {};
  }

  Result<void> find_inputs() {
    Names names;
    for (const onnx::ValueInfoProto& value : graph_.input()) names.insert(value.name());
    for (const auto& [given, extents] : options_.shapes) {
      const std::optional<std::string> input = name_given(given, names);
      if (!input) {
        return invalid("the model has no input " + quoted(given) + "; its inputs: " + shown_names(names), "--shape");
      }
      if (!shapes_.emplace(*input, extents).second) {
        return invalid("the input " + quoted(*input) + " is given twice; give it once", "--shape");
      }
    }
    return {};
  }

  Result<void> bind_shape(const std::string& name, const std::vector<std::int64_t>& extents) {
    const auto input = std::find_if(graph_.input().begin(), graph_.input().end(),
                                    [&](const onnx::ValueInfoProto& value) { return value.name() == name; });
    if (static_cast<std::int64_t>(extents.size()) > limits::kMaxRank) {
      return invalid("rank " + std::to_string(extents.size()) + " is above the limit of " +
                         std::to_string(limits::kMaxRank) + " (kMaxRank)",
                     option_of(name));
    }
    const bool has_rank = input->type().tensor_type().has_shape();
    for (std::int64_t extent : extents) {
      if (extent < -1 || (extent == -1 && !has_rank)) {
        return invalid("extent " + std::to_string(extent) + " is not a size; give at least 0" +
                           (has_rank ? ", or -1 to keep the extent of the file" : ""),
                       option_of(name));
      }
    }
    if (!has_rank) return {};
    const onnx::TensorShapeProto& shape = input->type().tensor_type().shape();
    if (shape.dim_size() != static_cast<int>(extents.size())) {
      return invalid("the option gives " + with_count(extents.size(), "extent") + ", but the file declares " +
                         std::to_string(shape.dim_size()) + ": " + describe(input->type()),
                     option_of(name));
    }
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      const std::int64_t extent = extents[static_cast<std::size_t>(axis)];
      if (extent != -1) LOWTIDE_RETURN_IF_ERROR(bind_extent(name, axis, shape.dim(axis), extent));
    }
    return {};
  }

  Result<void> bind_extent(const std::string& input, int axis, const onnx::TensorShapeProto_Dimension& dimension,
                           std::int64_t extent) {
    const std::string given = "extent " + std::to_string(axis) + " is given as " + std::to_string(extent);
    if (dimension.has_dim_value() && dimension.dim_value() >= 0 && dimension.dim_value() != extent) {
      return invalid(given + ", but it is fixed in the file at " + std::to_string(dimension.dim_value()),
                     option_of(input));
    }
    if (dimension.dim_param().empty()) return {};
    const std::string& symbol = dimension.dim_param();
    const auto [earlier, is_new] = bound_.dims.try_emplace(symbol, extent);
    if (is_new) {
      origin_[symbol] = "extent " + std::to_string(axis) + " of " + option_of(input);
    } else if (earlier->second != extent) {
      return invalid(given + ", but its symbol " + quoted(symbol) + " is given as " + std::to_string(earlier->second) +
                         " by " + origin_[symbol] + "; give it one value",
                     option_of(input));
    }
    return {};
  }

  void apply_shape(const std::string& input, TensorFact& fact) const {
    const auto given = shapes_.find(input);
    if (given == shapes_.end()) return;
    if (!fact.known.extents) fact.known.extents.emplace(given->second.size());
    for (std::size_t axis = 0; axis < given->second.size(); ++axis) {
      if (given->second[axis] != -1) (*fact.known.extents)[axis] = {Knowledge::exact, given->second[axis], {}};
    }
  }

  const onnx::GraphProto& graph_;
  const ImportOptions& options_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;  // the shapes of the options, by the names of the model
  std::map<std::string, std::string> origin_;                // of bound_.dims: what gives each symbol its value
  BoundInputs bound_;
};

}  // namespace

Result<BoundInputs> bind_inputs(const onnx::GraphProto& graph, const ImportOptions& options) {
  return Binder(graph, options).bind();
}

}  // namespace lowtide::import_internal
