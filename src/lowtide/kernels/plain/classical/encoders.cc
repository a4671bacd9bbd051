// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/classical/features.h"
#include "lowtide/kernels/plain/classical/lists.h"
#include "lowtide/kernels/plain/classical/matrix.h"

namespace lowtide::kernels_internal {
namespace {

// A number of an attribute or an element: integers of 64 bits are compared as such, all others as reals.
struct Key {
  std::int64_t integer = 0;
  double real = 0;
};

// Finds the position of a number in a list. Of equal numbers, the first counts. NaN is equal to NaN.
class KeyTable {
 public:
  KeyTable() = default;
  KeyTable(std::vector<Key> keys, bool are_integers) : are_integers_(are_integers), keys_(std::move(keys)) {
    order_.resize(keys_.size());
    for (std::size_t at = 0; at < order_.size(); ++at) order_[at] = static_cast<std::uint32_t>(at);
    std::ranges::stable_sort(order_, [&](std::uint32_t a, std::uint32_t b) { return is_below(keys_[a], keys_[b]); });
  }

  // Returns nullptr if it is not in the list.
  [[nodiscard]] const std::uint32_t* find(const Key& key) const {
    const auto found = std::lower_bound(order_.begin(), order_.end(), key, [&](std::uint32_t at, const Key& wanted) {
      return is_below(keys_[at], wanted);
    });
    return found == order_.end() || is_below(key, keys_[*found]) ? nullptr : &*found;
  }

 private:
  [[nodiscard]] bool is_below(const Key& a, const Key& b) const {
    if (are_integers_) return a.integer < b.integer;
    return std::isnan(b.real) ? !std::isnan(a.real) : a.real < b.real;
  }

  bool are_integers_ = true;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> order_;  // positions in `keys_`, ascending by key
};

using EncoderTypes = std::array<DType, 5>;
constexpr EncoderTypes kEncoderTypes{DType::f64, DType::f32, DType::i64, DType::i32, DType::i16};

constexpr bool is_real_type(DType dtype) { return dtype == DType::f64 || dtype == DType::f32; }

template <typename Function>
auto visit_encoder_type(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::f64: return function(double{});
    case DType::f32: return function(float{});
    case DType::i32: return function(std::int32_t{});
    case DType::i16: return function(std::int16_t{});
    default: return function(std::int64_t{});
  }
}

struct LabelParameters {
  KeyTable keys;
  std::vector<Key> values;
  Key otherwise;
};

template <typename From, typename To>
void encode(const LabelParameters& parameters, const From* from, To* to, std::int64_t count) {
  const auto as_result = [](const Key& key) {
    if constexpr (std::is_floating_point_v<To>) return static_cast<To>(key.real);
    return static_cast<To>(key.integer);
  };
  for (std::int64_t at = 0; at < count; ++at) {
    Key key;
    if constexpr (std::is_floating_point_v<From>) {
      key.real = static_cast<double>(from[at]);
    } else {
      key.integer = from[at];
    }
    const std::uint32_t* const found = parameters.keys.find(key);
    to[at] = as_result(found == nullptr ? parameters.otherwise : parameters.values[*found]);
  }
}

RunStatus run_label_encoder(const LabelParameters& parameters, const Operands& operands, Team& team) {
  const BoundTensor& x = operands.reads[0];
  const BoundTensor& y = operands.writes[0];
  const RunStatus status = set_extents(y, Extents(extents_of(x)));
  if (status.code != RunCode::ok) return status;
  constexpr std::int64_t kSteps = 16;
  const RunCode code = run_in_parts(team, count_of(x), kSteps * count_of(x), [&](std::int64_t begin, std::int64_t end) {
    visit_encoder_type(x.dtype, [&]<typename From>(From) {
      visit_encoder_type(y.dtype, [&]<typename To>(To) {
        encode(parameters, elements<From>(x) + begin, mutable_elements<To>(y) + begin, end - begin);
      });
    });
    return RunCode::ok;
  });
  return {code, 0};
}

// The numbers of the first attribute that is present: a list of integers, of reals, or a tensor. `side`: "keys".
Result<std::vector<Key>> keys_in(const Node& node, const std::string& side, bool are_real) {
  std::vector<Key> keys;
  for (const char* suffix : {"_int64s", "_floats", "_tensor"}) {
    const std::string name = side + suffix;
    const auto has_name = [&](const Attribute& attribute) { return attribute.name == name; };
    if (!keys.empty() || std::ranges::none_of(node.attributes, has_name)) continue;
    if (are_real) {
      LOWTIDE_TRY(const auto reals, reals_in(node, name));
      for (double real : reals) keys.push_back({.real = real});
    } else {
      LOWTIDE_TRY(const auto integers, integers_in(node, name));
      for (std::int64_t integer : integers) keys.push_back({.integer = integer});
    }
  }
  return keys;
}

Result<Key> default_of(const Node& node, bool is_real) {
  LOWTIDE_TRY(const auto given, keys_in(node, "default", is_real));
  if (!given.empty()) return given.front();
  Key key;
  key.integer = integer_attribute(node, "default_int64", -1);
  key.real = number_attribute(node, "default_float", -0.0);
  return key;
}

PreparedResult prepare_label_encoder(const PrepareInput& input) {
  const Node& node = node_of(input);
  const bool has_real_keys = is_real_type(input.graph.tensor(*node.inputs[0]).dtype);
  const bool has_real_values = is_real_type(input.graph.tensor(*node.outputs[0]).dtype);
  LabelParameters of;
  LOWTIDE_TRY(auto keys, keys_in(node, "keys", has_real_keys));
  LOWTIDE_TRY(of.values, keys_in(node, "values", has_real_values));
  LOWTIDE_TRY(of.otherwise, default_of(node, has_real_values));
  if (keys.size() != of.values.size()) return different_lengths("keys", keys.size(), "values", of.values.size());
  of.keys = KeyTable(std::move(keys), !has_real_keys);
  return plain_kernel(input, &run_label_encoder, std::move(of));
}

std::string missing_label_encoder(const Graph& graph, const Node& node) {
  for (const char* name : {"keys_strings", "values_strings", "classes_strings"}) {
    if (texts_in(node, name).empty()) continue;
    return "attribute " + quoted(name) + " has strings, and kernels have numbers; encode strings before the model";
  }
  const DType result = graph.tensor(*node.outputs[0]).dtype;
  const bool has_type = std::ranges::find(kEncoderTypes, result) != kEncoderTypes.end();
  return has_type ? "" : "its output is " + std::string(to_string(result));
}

struct OneHotCategories {
  KeyTable categories;
  std::int64_t count = 0;
  bool allows_others = true;  // zeros: another category is a row of zeros; otherwise it is an error
};

RunStatus run_one_hot_encoder(const OneHotCategories& parameters, const Operands& operands, Team& team) {
  const BoundTensor& x = operands.reads[0];
  Extents extents(extents_of(x));
  if (extents.is_full()) return {RunCode::bad_extents, 0};
  extents.push_back(parameters.count);
  const RunStatus status = set_extents(operands.writes[0], extents);
  if (status.code != RunCode::ok) return status;
  const std::int64_t count = count_of(x);
  const std::int64_t width = parameters.count;
  const RunCode code = run_in_parts(team, count, width * count, [&](std::int64_t begin, std::int64_t end) {
    return visit_encoder_type(x.dtype, [&]<typename From>(From) {
      float* to = mutable_elements<float>(operands.writes[0]) + begin * width;
      for (std::int64_t at = begin; at < end; ++at, to += width) {
        std::fill_n(to, width, 0.0F);
        // ONNX says that reals become integers, so 2.5 has category 2.
        const Key key{.integer = converted<std::int64_t>(elements<From>(x)[at])};
        const std::uint32_t* const found = parameters.categories.find(key);
        if (found != nullptr) to[*found] = 1.0F;
        if (found == nullptr && !parameters.allows_others) return RunCode::index_out_of_range;
      }
      return RunCode::ok;
    });
  });
  return {code, 0};
}

PreparedResult prepare_one_hot_encoder(const PrepareInput& input) {
  const Node& node = node_of(input);
  LOWTIDE_TRY(const auto numbers, integers_in(node, "cats_int64s"));
  std::vector<Key> keys;
  for (std::int64_t number : numbers) keys.push_back({.integer = number});
  OneHotCategories of;
  of.count = static_cast<std::int64_t>(keys.size());
  of.categories = KeyTable(std::move(keys), true);
  of.allows_others = integer_attribute(node, "zeros", 1) != 0;
  return plain_kernel(input, &run_one_hot_encoder, std::move(of));
}

std::string missing_one_hot_encoder(const Graph& graph, const Node& node) {
  if (!texts_in(node, "cats_strings").empty()) {
    return "its categories are strings, and kernels have integers; encode strings before the model";
  }
  const bool is_full = graph.tensor(*node.inputs[0]).shape.rank() >= kMostAxes;
  return is_full ? "its output has more axes than kernels have" : "";
}

constexpr std::array kEncoderTable{
    PlainOperator{.op = {kClassicalDomain, "LabelEncoder", kEncoderTypes},
                  .prepare = &prepare_label_encoder,
                  .missing = &missing_label_encoder},
    PlainOperator{.op = {kClassicalDomain, "OneHotEncoder", kMatrixTypes},
                  .prepare = &prepare_one_hot_encoder,
                  .missing = &missing_one_hot_encoder},
};
constexpr std::array kEncoderOperators = operators_of(kEncoderTable);

}  // namespace

Family encoder_family() {
  return {.name = "encoders",
          .operators = kEncoderOperators,
          .offer = [](const OfferInput& input) { return offer_from(kEncoderTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kEncoderTable, input); }};
}

}  // namespace lowtide::kernels_internal
