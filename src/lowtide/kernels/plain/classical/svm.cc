// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/svm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/try.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/classical/class_probabilities.h"
#include "lowtide/kernels/plain/classical/lists.h"
#include "lowtide/kernels/plain/classical/matrix.h"
#include "lowtide/kernels/plain/classical/scores.h"

namespace lowtide::kernels_internal {
namespace {

enum class SvmKernel : std::uint8_t { linear, poly, rbf, sigmoid };

struct SvmParameters {
  SvmKernel kernel = SvmKernel::linear;
  double gamma = 0;
  double coef0 = 0;
  double degree = 0;
  std::vector<double> coefficients;
  std::vector<double> support;  // a row per support vector; empty: linear
  std::vector<double> rho;
  std::vector<double> prob_a;  // of a pair of classes; empty: no probabilities
  std::vector<double> prob_b;
  std::vector<std::int64_t> begins;  // the support vectors of class i are [begins[i], begins[i + 1])
  std::vector<std::int64_t> labels;
  PostTransform transform = PostTransform::none;
  std::int64_t columns = 0;
  std::int64_t vectors = 0;
  std::int64_t scores = 1;
  int threads = 1;
  bool is_classifier = false;
  bool is_one_class = false;

  [[nodiscard]] std::int64_t classes() const { return static_cast<std::int64_t>(labels.size()); }
};

std::int64_t pairs_of(std::int64_t classes) { return classes * (classes - 1) / 2; }

// The numbers of a row and of what is computed from it, in scratch.
class SvmRow {
 public:
  SvmRow(const SvmParameters& of, double* scratch) : of_(of), next_(scratch) {
    row_ = take(of.columns);
    scores_ = take(of.scores);
    if (of.vectors == 0) return;
    kernels_ = take(of.vectors);
    if (!of.is_classifier) return;
    decisions_ = take(pairs_of(of.classes()));
    votes_ = take(of.classes());
    pairs_ = take(of.classes() * of.classes());
    coupling_ = take(static_cast<std::int64_t>(coupling_numbers(static_cast<std::size_t>(of.classes()))));
  }
  static std::int64_t numbers(std::int64_t columns, std::int64_t vectors, std::int64_t classes, std::int64_t scores) {
    const auto coupling = static_cast<std::int64_t>(coupling_numbers(static_cast<std::size_t>(classes)));
    return columns + scores + vectors + pairs_of(classes) + classes + classes * classes + coupling;
  }

  [[nodiscard]] double* row() const { return row_.data(); }
  [[nodiscard]] std::span<double> scores() const { return scores_; }

  // Computes the scores of the row, and returns its label.
  std::int64_t run() {
    for (std::int64_t at = 0; at < of_.vectors; ++at) {
      kernels_[static_cast<std::size_t>(at)] = kernel(of_.support.data() + at * of_.columns);
    }
    if (!of_.is_classifier) return run_regressor();
    return of_.vectors == 0 ? run_linear_classes() : run_pairs();
  }

 private:
  std::span<double> take(std::int64_t count) {
    const std::span<double> taken(next_, static_cast<std::size_t>(count));
    next_ += count;
    return taken;
  }

  [[nodiscard]] double kernel(const double* other) const {
    double sum = 0;
    if (of_.kernel == SvmKernel::rbf) {
      for (std::size_t at = 0; at < row_.size(); ++at) sum += (row_[at] - other[at]) * (row_[at] - other[at]);
      return std::exp(-of_.gamma * sum);
    }
    for (std::size_t at = 0; at < row_.size(); ++at) sum += row_[at] * other[at];
    if (of_.kernel == SvmKernel::poly) return std::pow(of_.gamma * sum + of_.coef0, of_.degree);
    return of_.kernel == SvmKernel::sigmoid ? std::tanh(of_.gamma * sum + of_.coef0) : sum;
  }

  std::int64_t run_regressor() {
    const double* const begin = of_.coefficients.data();
    const double sum =
        of_.vectors == 0 ? kernel(begin) : std::inner_product(kernels_.begin(), kernels_.end(), begin, 0.0);
    scores_[0] = sum + of_.rho[0];
    if (of_.is_one_class) {
      scores_[0] = scores_[0] > 0 ? 1 : -1;
    } else {
      transform_scores(of_.transform, scores_);
    }
    return 0;
  }

  std::int64_t run_linear_classes() {
    for (std::size_t at = 0; at < scores_.size(); ++at) {
      scores_[at] = kernel(of_.coefficients.data() + static_cast<std::int64_t>(at) * of_.columns) + of_.rho[0];
    }
    const std::size_t largest = largest_score(scores_);
    const bool is_positive = scores_[0] > 0;
    transform_scores(of_.transform, scores_);
    return scores_.size() == 1 && !is_positive ? 0 : of_.labels[largest];
  }

  // The products of the coefficients in a row of the table with the kernels of a class.
  [[nodiscard]] double decision_part(std::int64_t table_row, std::int64_t of_class) const {
    double sum = 0;
    const double* const coefficients = of_.coefficients.data() + table_row * of_.vectors;
    const auto at_class = static_cast<std::size_t>(of_class);
    for (std::int64_t at = of_.begins[at_class]; at < of_.begins[at_class + 1]; ++at) {
      sum += coefficients[at] * kernels_[static_cast<std::size_t>(at)];
    }
    return sum;
  }

  // Each pair of classes votes for one of them.
  std::int64_t run_pairs() {
    std::ranges::fill(votes_, 0.0);
    std::size_t pair = 0;
    for (std::int64_t first = 0; first < of_.classes(); ++first) {
      for (std::int64_t second = first + 1; second < of_.classes(); ++second, ++pair) {
        const double decision = decision_part(second - 1, first) + decision_part(first, second) + of_.rho[pair];
        decisions_[pair] = decision;
        votes_[static_cast<std::size_t>(decision > 0 ? first : second)] += 1;
      }
    }
    if (!of_.prob_a.empty()) {
      find_probabilities();
    } else if (of_.classes() == 2) {
      scores_[0] = -decisions_[0];
      scores_[1] = decisions_[0];
    } else {
      std::ranges::copy(decisions_, scores_.begin());
    }
    transform_scores(of_.transform, scores_);
    return of_.labels[largest_score(votes_)];
  }

  void find_probabilities() {
    constexpr double kLeast = 1e-7;
    const auto classes = static_cast<std::size_t>(of_.classes());
    std::size_t pair = 0;
    for (std::size_t first = 0; first < classes; ++first) {
      for (std::size_t second = first + 1; second < classes; ++second, ++pair) {
        const double exponent = decisions_[pair] * of_.prob_a[pair] + of_.prob_b[pair];
        const double probability = std::clamp(1 / (1 + std::exp(exponent)), kLeast, 1 - kLeast);
        pairs_[first * classes + second] = probability;
        pairs_[second * classes + first] = 1 - probability;
      }
    }
    couple_probabilities(pairs_, scores_, coupling_);
  }

  const SvmParameters& of_;
  double* next_;
  std::span<double> row_;
  std::span<double> scores_;
  std::span<double> kernels_;
  std::span<double> decisions_;
  std::span<double> votes_;
  std::span<double> pairs_;
  std::span<double> coupling_;
};

std::int64_t numbers_of_row(const SvmParameters& of) {
  return SvmRow::numbers(of.columns, of.vectors, of.classes(), of.scores);
}

RunStatus run_svm(const SvmParameters& parameters, const Operands& operands, Team& team) {
  const std::optional<Matrix> matrix = matrix_of(operands.reads[0]);
  if (!matrix || matrix->columns != parameters.columns) return {RunCode::bad_extents, 0};
  const std::size_t result = parameters.is_classifier ? 1 : 0;
  const bool has_scores = has_operand(operands.writes, result);
  const bool has_labels = parameters.is_classifier && has_operand(operands.writes, 0);
  RunStatus status;
  if (has_scores) status = set_extents(operands.writes[result], Extents{matrix->rows, parameters.scores});
  if (status.code == RunCode::ok && has_labels) status = set_extents(operands.writes[0], Extents{matrix->rows});
  if (status.code != RunCode::ok) return status;
  const double products = static_cast<double>(matrix->rows) * static_cast<double>(matrix->columns) *
                          static_cast<double>(std::max<std::int64_t>(parameters.vectors, parameters.scores));
  const int shares = threads_with_work(parameters.threads, matrix->rows, products);
  const RunCode code = run_shares(team, shares, [&](int share) {
    SvmRow row(parameters, reinterpret_cast<double*>(operands.scratch) + share * numbers_of_row(parameters));
    for (std::int64_t at = matrix->rows * share / shares; at < matrix->rows * (share + 1) / shares; ++at) {
      read_reals(operands.reads[0], at * matrix->columns, matrix->columns, row.row());
      const std::int64_t label = row.run();
      if (has_labels) mutable_elements<std::int64_t>(operands.writes[0])[at] = label;
      if (has_scores) write_reals(operands.writes[result], at * parameters.scores, row.scores());
    }
    return RunCode::ok;
  });
  return {code, 0};
}

bool is_svm_classifier(const Graph& graph, const Node& node) {
  return graph.operators()[node.op].type == "SVMClassifier";
}

std::string missing_svm(const Graph& graph, const Node& node) {
  std::string missing = missing_matrix(graph, node);
  if (!missing.empty()) return missing;
  if (!input_columns(graph, node)) return "the number of columns of its input is only known as an upper bound";
  return is_svm_classifier(graph, node) ? missing_labels(graph, node) : "";
}

constexpr std::int64_t kMostVectors = 1 << 24;  // of a class

// Reads everything except lists of coefficients, which an offer need not copy. A negative size counts as 0 here;
// check_sizes() refuses it.
SvmParameters sizes_of_svm(const Graph& graph, const Node& node) {
  SvmParameters of;
  of.is_classifier = is_svm_classifier(graph, node);
  of.columns = *input_columns(graph, node);
  of.begins = {0};
  if (!of.is_classifier) {
    of.vectors = std::max<std::int64_t>(integer_attribute(node, "n_supports", 0), 0);
    return of;
  }
  of.labels = labels_of(node);
  if (const auto* sizes = integers_attribute(node, "vectors_per_class")) {
    for (std::int64_t size : *sizes)
      of.begins.push_back(of.begins.back() + std::clamp<std::int64_t>(size, 0, kMostVectors));
  }
  of.vectors = of.begins.back();
  const bool has_pairs = of.vectors > 0 && numbers_in(node, "prob_a") == 0;
  of.scores = has_pairs && of.classes() > 2 ? pairs_of(of.classes()) : std::max<std::int64_t>(of.classes(), 1);
  return of;
}

Result<void> check_sizes(const Node& node, bool is_classifier) {
  const char* const name = is_classifier ? "vectors_per_class" : "n_supports";
  LOWTIDE_TRY(const std::vector<std::int64_t> sizes, integers_in(node, name));
  const auto wrong = std::ranges::find_if(sizes, [](std::int64_t size) { return size < 0 || size > kMostVectors; });
  if (wrong == sizes.end()) return {};
  return Error{ErrorCode::invalid,
               "attribute '" + std::string(name) + "' has " + std::to_string(*wrong) +
                   ", and a number of support vectors is from 0 to " + std::to_string(kMostVectors),
               ""};
}

Bytes bytes_of_row(const SvmParameters& of) { return Bytes(numbers_of_row(of)) * std::int64_t{sizeof(double)}; }

Bytes svm_scratch(const Graph& graph, const Node& node, int threads) {
  SvmParameters of = sizes_of_svm(graph, node);
  // More support vectors or features than there are numbers are refused later.
  of.vectors = std::min(of.vectors, numbers_in(node, "support_vectors"));
  of.columns = std::min(of.columns, std::max(numbers_in(node, "support_vectors"), numbers_in(node, "coefficients")));
  return bytes_of_row(of) * threads;
}

Result<void> expect_numbers(const char* name, const std::vector<double>& list, std::int64_t factor,
                            std::int64_t other) {
  const auto count = static_cast<std::int64_t>(list.size());
  const bool is_right = factor == 0 || other == 0 ? count == 0 : count % factor == 0 && count / factor == other;
  if (is_right) return {};
  return Error{ErrorCode::invalid,
               "attribute '" + std::string(name) + "' has " + with_count(count, "number") + ", and " +
                   std::to_string(factor) + " x " + std::to_string(other) + " are needed",
               ""};
}

Result<void> read_kernel(const Node& node, SvmParameters& of) {
  constexpr std::array<std::string_view, 4> kKernels{"LINEAR", "POLY", "RBF", "SIGMOID"};
  const std::string name = of.vectors == 0 ? "LINEAR" : text_attribute(node, "kernel_type", "LINEAR");
  const auto at = static_cast<std::size_t>(std::ranges::find(kKernels, name) - kKernels.begin());
  if (at == kKernels.size()) {
    return Error{ErrorCode::invalid, "attribute 'kernel_type' is not LINEAR, POLY, RBF or SIGMOID", ""};
  }
  of.kernel = static_cast<SvmKernel>(at);
  LOWTIDE_TRY(const auto numbers, reals_in(node, "kernel_params"));
  if (!numbers.empty()) LOWTIDE_RETURN_IF_ERROR(expect_numbers("kernel_params", numbers, 3, 1));
  if (!numbers.empty()) std::tie(of.gamma, of.coef0, of.degree) = std::tuple(numbers[0], numbers[1], numbers[2]);
  return {};
}

Result<void> check_svm(const SvmParameters& of, std::size_t sizes) {
  const std::int64_t classes = of.classes();
  if (of.columns == 0) return Error{ErrorCode::invalid, "the input has no features", ""};
  if (of.vectors == 0) {
    LOWTIDE_RETURN_IF_ERROR(
        expect_numbers("coefficients", of.coefficients, of.is_classifier ? classes : 1, of.columns));
    return of.rho.empty() ? expect_numbers("rho", of.rho, 1, 1) : Result<void>();
  }
  LOWTIDE_RETURN_IF_ERROR(expect_numbers("support_vectors", of.support, of.columns, of.vectors));
  if (!of.is_classifier) {
    LOWTIDE_RETURN_IF_ERROR(expect_numbers("coefficients", of.coefficients, of.vectors, 1));
    return of.rho.empty() ? expect_numbers("rho", of.rho, 1, 1) : Result<void>();
  }
  if (classes < 2 || sizes != of.labels.size()) {
    return Error{ErrorCode::invalid,
                 "attribute 'vectors_per_class' has " + std::to_string(sizes) + " entries for " +
                     with_count(classes, "label") + ", of which there must be two",
                 ""};
  }
  LOWTIDE_RETURN_IF_ERROR(expect_numbers("coefficients", of.coefficients, of.vectors, classes - 1));
  LOWTIDE_RETURN_IF_ERROR(expect_numbers("rho", of.rho, pairs_of(classes), 1));
  if (of.prob_a.empty() && of.prob_b.empty()) return {};
  LOWTIDE_RETURN_IF_ERROR(expect_numbers("prob_a", of.prob_a, pairs_of(classes), 1));
  return expect_numbers("prob_b", of.prob_b, pairs_of(classes), 1);
}

PreparedResult prepare_svm(const PrepareInput& input) {
  const Node& node = node_of(input);
  SvmParameters of = sizes_of_svm(input.graph, node);
  of.threads = input.threads;
  LOWTIDE_TRY(of.coefficients, reals_in(node, "coefficients"));
  LOWTIDE_TRY(of.support, reals_in(node, "support_vectors"));
  LOWTIDE_TRY(of.rho, reals_in(node, "rho"));
  LOWTIDE_TRY(of.prob_a, reals_in(node, "prob_a"));
  LOWTIDE_TRY(of.prob_b, reals_in(node, "prob_b"));
  LOWTIDE_TRY(of.transform, post_transform_of(node));
  of.is_one_class = integer_attribute(node, "one_class", 0) != 0;
  LOWTIDE_RETURN_IF_ERROR(check_sizes(node, of.is_classifier));
  LOWTIDE_RETURN_IF_ERROR(read_kernel(node, of));
  LOWTIDE_RETURN_IF_ERROR(check_svm(of, of.begins.size() - 1));
  LOWTIDE_RETURN_IF_ERROR(check_scores(tensor_of_result(input.graph, node, of.is_classifier ? 1 : 0), of.scores));
  LOWTIDE_RETURN_IF_ERROR(check_scratch(bytes_of_row(of), svm_scratch(input.graph, node, 1)));
  return plain_kernel(input, &run_svm, std::move(of));
}

constexpr PlainOperator svm_operator(std::string_view type) {
  return {.op = {kClassicalDomain, type, kMatrixTypes},
          .prepare = &prepare_svm,
          .missing = &missing_svm,
          .scratch = &svm_scratch,
          .may_omit_result = true};
}
constexpr std::array kSvmTable{svm_operator("SVMClassifier"), svm_operator("SVMRegressor")};
constexpr std::array kSvmOperators = operators_of(kSvmTable);

}  // namespace

Family svm_family() {
  return {.name = "svm",
          .operators = kSvmOperators,
          .offer = [](const OfferInput& input) { return offer_from(kSvmTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kSvmTable, input); }};
}

}  // namespace lowtide::kernels_internal
