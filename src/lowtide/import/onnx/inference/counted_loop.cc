// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/counted_loop.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/proto/constants.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {
namespace {

// A float of 32 bits holds each whole number up to this one, so a Cast changes none of them.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 24;

constexpr int kFirstState = 2;  // among the inputs of the body; among its outputs, it is 1

// A whole number, or its upper bound.
struct WholeNumber {
  std::int64_t number = 0;
  bool is_exact = false;
};

std::optional<WholeNumber> whole_number(const TensorFact& fact) {
  const KnownContent* content = fact.known.content.get();
  if (content == nullptr || content->elements.size() != 1 || !is_integer(content->dtype)) return std::nullopt;
  const KnownElement& element = content->elements[0];
  const bool is_usable =
      element.knowledge != Knowledge::unknown && element.integer >= -kMostCounted && element.integer <= kMostCounted;
  if (!is_usable) return std::nullopt;
  return WholeNumber{element.integer, element.knowledge == Knowledge::exact};
}

std::optional<std::int64_t> if_exact(const std::optional<WholeNumber>& number) {
  return number && number->is_exact ? std::optional(number->number) : std::nullopt;
}

class CountedLoop {
 public:
  CountedLoop(const onnx::GraphProto& body, std::span<const TensorFact* const> inputs, const InferBody& infer_body)
      : body_(body), inputs_(inputs), infer_body_(infer_body) {
    for (const onnx::NodeProto& node : body.node()) {
      for (const std::string& output : node.output()) makers_.emplace(output, &node);
    }
    for (int at = 0; at < body.input_size(); ++at) inputs_by_name_.emplace(body.input(at).name(), at);
    for (const onnx::TensorProto& tensor : body.initializer()) constants_.emplace(tensor.name(), &tensor);
  }

  std::optional<CountedIterations> iterations() {
    if (body_.output_size() < 1) return std::nullopt;
    std::optional<CountedIterations> least;
    bool is_whole = true;  // whether the condition is one comparison
    std::vector<std::string_view> conditions = {body_.output(0).name()};
    constexpr std::size_t kMostConditions = 16;
    for (std::size_t at = 0; at < conditions.size() && at < kMostConditions; ++at) {
      const onnx::NodeProto* node = maker_of(origin(conditions[at]));
      if (node != nullptr && node->op_type() == "And" && node->input_size() == 2) {
        is_whole = false;
        for (const std::string& operand : node->input()) conditions.push_back(operand);
        continue;
      }
      const std::optional<CountedIterations> count = node == nullptr ? std::nullopt : iterations_by(*node);
      if (count && (!least || count->most < least->most)) least = count;
    }
    if (least) least->is_exact = least->is_exact && is_whole;
    return least;
  }

 private:
  // A counter in the condition that ends iteration k, counted from 0: first + k x step.
  struct Counter {
    std::int64_t first = 0;
    std::int64_t step = 0;
  };

  [[nodiscard]] const onnx::NodeProto* maker_of(std::string_view name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() || !normalized_domain(found->second->domain()).empty() ? nullptr : found->second;
  }

  // The name behind casts between numbers and copies. It ends, because names are produced once and not in cycles.
  [[nodiscard]] std::string_view origin(std::string_view name) const {
    for (int at = 0; at < body_.node_size(); ++at) {
      const onnx::NodeProto* node = maker_of(name);
      const bool passes = node != nullptr && node->input_size() == 1 &&
                          (node->op_type() == "Identity" || (node->op_type() == "Cast" && keeps_numbers(*node)));
      if (!passes) return name;
      name = node->input(0);
    }
    return name;
  }

  // Whether a Cast keeps whole numbers up to kMostCounted.
  static bool keeps_numbers(const onnx::NodeProto& cast) {
    for (const onnx::AttributeProto& attribute : cast.attribute()) {
      if (attribute.name() != "to") continue;
      switch (attribute.i()) {
        case onnx::TensorProto::INT32:
        case onnx::TensorProto::INT64:
        case onnx::TensorProto::FLOAT:
        case onnx::TensorProto::DOUBLE:
        case onnx::TensorProto::BOOL: return true;
        default: return false;
      }
    }
    return false;
  }

  [[nodiscard]] std::optional<int> input_of(std::string_view name) const {
    const auto found = inputs_by_name_.find(name);
    return found == inputs_by_name_.end() ? std::nullopt : std::optional(found->second);
  }

  // A number that is the same in each iteration.
  [[nodiscard]] std::optional<WholeNumber> fixed_number(std::string_view name) const {
    name = origin(name);
    if (const std::optional<int> input = input_of(name)) {
      const int returned = *input - kFirstState + 1;
      if (*input < kFirstState || returned >= body_.output_size()) return std::nullopt;
      if (origin(body_.output(returned).name()) != name) return std::nullopt;
      return number_before(*input);
    }
    ContentBudget budget(1);
    if (const auto constant = constants_.find(name); constant != constants_.end()) {
      const Result<TensorFact> fact = fact_from_tensor(*constant->second, budget);
      return fact ? whole_number(*fact) : std::nullopt;
    }
    if (const onnx::NodeProto* node = maker_of(name)) {
      if (node->op_type() != "Constant") return std::nullopt;
      const Result<TensorFact> fact = fact_from_constant_node(*node, budget);
      return fact ? whole_number(*fact) : std::nullopt;
    }
    const TensorFact* outer = infer_body_.around(name);
    return outer == nullptr ? std::nullopt : whole_number(*outer);
  }

  // What a state is before the first iteration.
  [[nodiscard]] std::optional<WholeNumber> number_before(int input) const {
    const auto at = static_cast<std::size_t>(input);
    return at < inputs_.size() && inputs_[at] != nullptr ? whole_number(*inputs_[at]) : std::nullopt;
  }

  // What a name adds to an input of the body, and which input it is.
  struct Sum {
    int input = 0;
    std::int64_t added = 0;
  };
  [[nodiscard]] std::optional<Sum> sum_of(std::string_view name) const {
    name = origin(name);
    if (const std::optional<int> input = input_of(name)) return Sum{*input, 0};
    const onnx::NodeProto* node = maker_of(name);
    if (node == nullptr || node->op_type() != "Add" || node->input_size() != 2) return std::nullopt;
    for (const int side : {0, 1}) {
      const std::optional<int> input = input_of(origin(node->input(side)));
      const std::optional<std::int64_t> added = if_exact(fixed_number(node->input(1 - side)));
      if (input && added) return Sum{*input, *added};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Counter> counter_of(std::string_view name) const {
    const std::optional<Sum> sum = sum_of(name);
    if (!sum) return std::nullopt;
    if (sum->input == 0) return Counter{sum->added, 1};  // the number of the iteration
    const int returned = sum->input - kFirstState + 1;
    if (sum->input < kFirstState || returned >= body_.output_size()) return std::nullopt;
    const std::optional<Sum> next = sum_of(body_.output(returned).name());
    const std::optional<std::int64_t> first = if_exact(number_before(sum->input));
    if (!next || next->input != sum->input || next->added < 1 || !first) return std::nullopt;
    return Counter{*first + sum->added, next->added};
  }

  // The iterations until a comparison of a counter with a limit is false.
  [[nodiscard]] std::optional<CountedIterations> iterations_by(const onnx::NodeProto& node) const {
    const std::string& type = node.op_type();
    const bool is_less = type == "Less" || type == "LessOrEqual";
    if ((!is_less && type != "Greater" && type != "GreaterOrEqual") || node.input_size() != 2) return std::nullopt;
    const std::optional<Counter> counter = counter_of(node.input(is_less ? 0 : 1));
    const std::optional<WholeNumber> limit = fixed_number(node.input(is_less ? 1 : 0));
    if (!counter || !limit) return std::nullopt;
    // It goes on while first + k x step < end.
    const std::int64_t end = limit->number + (type.ends_with("OrEqual") ? 1 : 0);
    const std::int64_t distance = end - counter->first;
    return CountedIterations{distance <= 0 ? 1 : (distance - 1) / counter->step + 2, limit->is_exact};
  }

  const onnx::GraphProto& body_;
  const std::span<const TensorFact* const> inputs_;
  const InferBody& infer_body_;
  std::unordered_map<std::string_view, const onnx::NodeProto*> makers_;
  std::unordered_map<std::string_view, int> inputs_by_name_;
  std::unordered_map<std::string_view, const onnx::TensorProto*> constants_;
};

}  // namespace

std::optional<CountedIterations> counted_iterations(const onnx::GraphProto& body,
                                                    std::span<const TensorFact* const> inputs,
                                                    const InferBody& infer_body) {
  return CountedLoop(body, inputs, infer_body).iterations();
}

}  // namespace lowtide::import_internal
