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
#include "lowtide/import/onnx/inference/extent_symbol.h"
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
      if (is_symbol(dimension.dim_param())) symbols.insert(dimension.dim_param());
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

// A shape of an input, and where it comes from: "--shape 'x'".
struct GivenShape {
  std::vector<std::int64_t> extents;
  std::string origin;
};

class Binder {
 public:
  Binder(const onnx::GraphProto& graph, const ImportOptions& options) : graph_(graph), options_(options) {}

  Result<BoundInputs> bind() {
    LOWTIDE_RETURN_IF_ERROR(check_dims());
    LOWTIDE_RETURN_IF_ERROR(check_bounds());
    LOWTIDE_RETURN_IF_ERROR(find_inputs());
    for (const auto& [input, shape] : shapes_) LOWTIDE_RETURN_IF_ERROR(bind_shape(input, shape));
    LOWTIDE_RETURN_IF_ERROR(bind_planned());
    LOWTIDE_RETURN_IF_ERROR(take_given());
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
    const Names symbols = symbols_of(graph_);
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

  // A symbol has a number or an upper bound.
  Result<void> check_bounds() {
    for (const auto& [name, most] : options_.at_most) {
      if (most < 0) {
        return invalid(quoted(name) + " cannot be at most " + std::to_string(most) + "; give a bound of at least 0",
                       "--at-most");
      }
      if (!bound_.dims.contains(name)) continue;
      return invalid("symbol " + quoted(name) + " is given both a number and an upper bound; give one of them",
                     "--at-most");
    }
    return {};
  }

  [[nodiscard]] Names input_names() const {
    Names names;
    for (const onnx::ValueInfoProto& value : graph_.input()) names.insert(value.name());
    return names;
  }

  [[nodiscard]] const onnx::ValueInfoProto& input_named(const std::string& name) const {
    return *std::find_if(graph_.input().begin(), graph_.input().end(),
                         [&](const onnx::ValueInfoProto& value) { return value.name() == name; });
  }

  Result<void> find_inputs() {
    const Names names = input_names();
    for (const auto& [given, extents] : options_.shapes) {
      const std::optional<std::string> input = name_given(given, names);
      if (!input) {
        return invalid("the model has no input " + quoted(given) + "; its inputs: " + shown_names(names), "--shape");
      }
      // A plan and the command line may write one name in two ways.
      const auto [earlier, is_new] = shapes_.emplace(*input, GivenShape{extents, option_of(*input)});
      if (!is_new && earlier->second.extents != extents) {
        return invalid("the input " + quoted(*input) + " is given two shapes; give it one", "--shape");
      }
    }
    return {};
  }

  static Error other_model(const std::string& what, const std::string& own) {
    return invalid(
        "the model has no " + what + ", for which the plan was made, so the plan is of another model; " + own,
        "sizes of the plan");
  }

  // What a stored plan was made for binds what the options leave open.
  Result<void> bind_planned() {
    const Names symbols = symbols_of(graph_);
    for (const auto& [given, extent] : options_.planned_dims) {
      const std::optional<std::string> symbol = name_given(given, symbols);
      if (!symbol) return other_model("symbol " + quoted(given), "its symbols: " + shown_names(symbols));
      if (options_.at_most.contains(*symbol)) continue;
      if (bound_.dims.try_emplace(*symbol, extent).second) origin_[*symbol] = "the plan";
    }
    const Names names = input_names();
    for (const auto& [given, extents] : options_.planned_shapes) {
      const std::optional<std::string> input = name_given(given, names);
      if (!input) return other_model("input " + quoted(given), "its inputs: " + shown_names(names));
      if (shapes_.contains(*input)) continue;
      GivenShape shape{extents, "shape of " + quoted(*input) + " in the plan"};
      keep_decided(*input, shape);
      LOWTIDE_RETURN_IF_ERROR(bind_shape(*input, shape));
      shapes_.emplace(*input, std::move(shape));
    }
    return {};
  }

  // Leaves the extents to the file and the options whose symbols have a number or an upper bound by an option.
  void keep_decided(const std::string& input, GivenShape& shape) const {
    const onnx::TypeProto::Tensor& type = input_named(input).type().tensor_type();
    if (!type.has_shape() || type.shape().dim_size() != static_cast<int>(shape.extents.size())) return;
    for (std::size_t axis = 0; axis < shape.extents.size(); ++axis) {
      const std::string& symbol = type.shape().dim(static_cast<int>(axis)).dim_param();
      if (!is_symbol(symbol)) continue;
      if (bound_.dims.contains(symbol) || options_.at_most.contains(symbol)) shape.extents[axis] = -1;
    }
  }

  // The shapes of inputs that the caller has bind what is open otherwise.
  Result<void> take_given() {
    const Names names = input_names();
    for (const auto& meanings : options_.given) {
      const std::pair<const std::string, std::vector<std::int64_t>>* meant = nullptr;
      for (const auto& meaning : meanings) {
        const bool is_longer = meant == nullptr || meaning.first.size() > meant->first.size();
        if (names.contains(meaning.first) && is_longer) meant = &meaning;
      }
      if (meant == nullptr) continue;
      GivenShape shape{meant->second, "input " + quoted(meant->first)};
      LOWTIDE_RETURN_IF_ERROR(keep_bounded(meant->first, shape));
      LOWTIDE_RETURN_IF_ERROR(bind_shape(meant->first, shape));
      if (is_open_input(meant->first)) bound_.given.emplace(meant->first, shape.extents);
      const auto [earlier, is_new] = shapes_.emplace(meant->first, shape);
      if (!is_new) LOWTIDE_RETURN_IF_ERROR(merge_given(meant->first, shape, earlier->second));
    }
    return {};
  }

  // Whether the file leaves a size of the input open.
  [[nodiscard]] bool is_open_input(const std::string& name) const {
    const onnx::TypeProto::Tensor& type = input_named(name).type().tensor_type();
    return !type.has_shape() || std::any_of(type.shape().dim().begin(), type.shape().dim().end(), [](const auto& dim) {
      return !dim.has_dim_value() || dim.dim_value() < 0;
    });
  }

  // Leaves extents open that have an upper bound, and compares them with it.
  Result<void> keep_bounded(const std::string& name, GivenShape& shape) const {
    const onnx::TypeProto& type = input_named(name).type();
    const bool has_extents = type.tensor_type().has_shape() &&
                             type.tensor_type().shape().dim_size() == static_cast<int>(shape.extents.size());
    for (std::size_t axis = 0; has_extents && axis < shape.extents.size(); ++axis) {
      const auto& dimension = type.tensor_type().shape().dim(static_cast<int>(axis));
      if (dimension.has_dim_value() && dimension.dim_value() >= 0) continue;
      for (const std::string& bounded : {dimension.dim_param(), extent_symbol(name, axis), name}) {
        const auto most = options_.at_most.find(bounded);
        if (most == options_.at_most.end()) continue;
        if (shape.extents[axis] > most->second) {
          return invalid("extent " + std::to_string(axis) + " is " + std::to_string(shape.extents[axis]) + ", but " +
                             quoted(bounded) + " is given as at most " + std::to_string(most->second) +
                             "; give a larger bound",
                         shape.origin);
        }
        shape.extents[axis] = -1;
        break;
      }
    }
    return {};
  }

  // The shape of the caller must be the one of the options.
  static Result<void> merge_given(const std::string& name, const GivenShape& given, GivenShape& shape) {
    for (std::size_t axis = 0; axis < std::min(given.extents.size(), shape.extents.size()); ++axis) {
      std::int64_t& extent = shape.extents[axis];
      if (extent == -1) extent = given.extents[axis];
      if (given.extents[axis] == -1 || extent == given.extents[axis]) continue;
      return invalid("extent " + std::to_string(axis) + " is " + std::to_string(given.extents[axis]) + ", but " +
                         shape.origin + " gives " + std::to_string(extent) + "; give one of them",
                     given.origin);
    }
    if (given.extents.size() == shape.extents.size()) return {};
    return invalid("has " + with_count(given.extents.size(), "extent") + ", but " + option_of(name) + " gives " +
                       std::to_string(shape.extents.size()),
                   given.origin);
  }

  Result<void> bind_shape(const std::string& name, const GivenShape& shape) {
    const onnx::TypeProto& type = input_named(name).type();
    const std::vector<std::int64_t>& extents = shape.extents;
    if (static_cast<std::int64_t>(extents.size()) > limits::kMaxRank) {
      return invalid("rank " + std::to_string(extents.size()) + " is above the limit of " +
                         std::to_string(limits::kMaxRank) + " (kMaxRank)",
                     shape.origin);
    }
    const bool has_rank = type.tensor_type().has_shape();
    for (std::int64_t extent : extents) {
      if (extent < -1 || (extent == -1 && !has_rank)) {
        return invalid("extent " + std::to_string(extent) + " is not a size; give at least 0" +
                           (has_rank ? ", or -1 to keep the extent of the file" : ""),
                       shape.origin);
      }
    }
    if (!has_rank) return {};
    const onnx::TensorShapeProto& declared = type.tensor_type().shape();
    if (declared.dim_size() != static_cast<int>(extents.size())) {
      return invalid("is given with " + with_count(extents.size(), "extent") + ", but the file declares " +
                         std::to_string(declared.dim_size()) + ": " + describe(type),
                     shape.origin);
    }
    for (int axis = 0; axis < declared.dim_size(); ++axis) {
      const std::int64_t extent = extents[static_cast<std::size_t>(axis)];
      if (extent != -1) LOWTIDE_RETURN_IF_ERROR(bind_extent(shape.origin, axis, declared.dim(axis), extent));
    }
    return {};
  }

  Result<void> bind_extent(const std::string& origin, int axis, const onnx::TensorShapeProto_Dimension& dimension,
                           std::int64_t extent) {
    const std::string given = "extent " + std::to_string(axis) + " is given as " + std::to_string(extent);
    if (dimension.has_dim_value() && dimension.dim_value() >= 0 && dimension.dim_value() != extent) {
      return invalid(given + ", but it is fixed in the file at " + std::to_string(dimension.dim_value()), origin);
    }
    if (!is_symbol(dimension.dim_param())) return {};
    const std::string& symbol = dimension.dim_param();
    if (const auto most = options_.at_most.find(symbol); most != options_.at_most.end()) {
      return invalid("symbol " + quoted(symbol) + " is given both a number, by " + origin +
                         ", and an upper bound; give one of them",
                     "--at-most");
    }
    const auto [earlier, is_new] = bound_.dims.try_emplace(symbol, extent);
    if (is_new) {
      origin_[symbol] = "extent " + std::to_string(axis) + " of " + origin;
    } else if (earlier->second != extent) {
      return invalid(given + ", but its symbol " + quoted(symbol) + " is given as " + std::to_string(earlier->second) +
                         " by " + origin_[symbol] + "; give it one value",
                     origin);
    }
    return {};
  }

  void apply_shape(const std::string& input, TensorFact& fact) const {
    const auto found = shapes_.find(input);
    if (found == shapes_.end()) return;
    const std::vector<std::int64_t>& extents = found->second.extents;
    if (!fact.known.extents) fact.known.extents.emplace(extents.size());
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      if (extents[axis] != -1) (*fact.known.extents)[axis] = {Knowledge::exact, extents[axis], {}};
    }
  }

  const onnx::GraphProto& graph_;
  const ImportOptions& options_;
  std::map<std::string, GivenShape> shapes_;   // by the names of the model
  std::map<std::string, std::string> origin_;  // of bound_.dims: what gives each symbol its value
  BoundInputs bound_;
};

}  // namespace

Names symbols_of(const onnx::GraphProto& graph) {
  Names symbols;
  add_symbols(graph.input(), symbols);
  add_symbols(graph.value_info(), symbols);
  add_symbols(graph.output(), symbols);
  return symbols;
}

Result<BoundInputs> bind_inputs(const onnx::GraphProto& graph, const ImportOptions& options) {
  return Binder(graph, options).bind();
}

}  // namespace lowtide::import_internal
