// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/activation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "lowtide/kernels/math/functions.h"

namespace lowtide::kernels_internal {
namespace {

struct NamedActivation {
  std::string_view name;  // in lower case
  float (*function)(float x, float alpha, float beta);
  std::optional<float> alpha;  // nullopt: the function has no such parameter
  std::optional<float> beta;
};

constexpr std::array kActivations{
    NamedActivation{"affine", [](float x, float alpha, float beta) { return alpha * x + beta; }, 1.0F, 0.0F},
    NamedActivation{"elu", [](float x, float alpha, float) { return x < 0 ? alpha * (std::exp(x) - 1) : x; }, 1.0F, {}},
    NamedActivation{"hardsigmoid",
                    [](float x, float alpha, float beta) { return std::clamp(alpha * x + beta, 0.0F, 1.0F); }, 0.2F,
                    0.5F},
    NamedActivation{"leakyrelu", [](float x, float alpha, float) { return x < 0 ? alpha * x : x; }, 0.01F, {}},
    NamedActivation{"relu", [](float x, float, float) { return x < 0 ? 0 : x; }, {}, {}},
    NamedActivation{"scaledtanh", [](float x, float alpha, float beta) { return alpha * tanh_f32(beta * x); }, 1.0F,
                    1.0F},
    NamedActivation{"sigmoid", [](float x, float, float) { return sigmoid_f32(x); }, {}, {}},
    NamedActivation{"softplus", [](float x, float, float) { return log_f32(1 + exp_f32(x)); }, {}, {}},
    NamedActivation{"softsign", [](float x, float, float) { return x / (1 + std::fabs(x)); }, {}, {}},
    NamedActivation{"tanh", [](float x, float, float) { return tanh_f32(x); }, {}, {}},
    NamedActivation{"thresholdedrelu", [](float x, float alpha, float) { return x > alpha ? x : 0; }, 1.0F, {}},
};

// Names are compared without regard to case, as the standard demands.
const NamedActivation* find_activation(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* found = std::ranges::find(kActivations, std::string_view(name), &NamedActivation::name);
  return found == kActivations.end() ? nullptr : found;
}

// The values of an attribute, which are taken one after another.
class Values {
 public:
  Values(const Node& node, std::string_view name) : list_(find_attribute<std::vector<double>>(node.attributes, name)) {}
  float next(const std::optional<float>& otherwise) {
    if (!otherwise) return 0;
    const bool has_more = list_ != nullptr && taken_ < list_->size();
    return has_more ? static_cast<float>((*list_)[taken_++]) : *otherwise;
  }

 private:
  const std::vector<double>* list_;
  std::size_t taken_ = 0;
};

}  // namespace

std::optional<std::vector<Activation>> activations_of(const Node& node, const std::vector<std::string>& defaults,
                                                      std::size_t count) {
  const auto* given = find_attribute<std::vector<std::string>>(node.attributes, "activations");
  const std::vector<std::string>& names = given == nullptr || given->empty() ? defaults : *given;
  const bool repeats = &names == &defaults;
  if (!repeats && names.size() != count) return std::nullopt;
  Values alphas(node, "activation_alpha");
  Values betas(node, "activation_beta");
  std::vector<Activation> activations;
  for (std::size_t at = 0; at < count; ++at) {
    const NamedActivation* found = find_activation(names[at % names.size()]);
    if (found == nullptr) return std::nullopt;
    activations.push_back({found->function, alphas.next(found->alpha), betas.next(found->beta)});
  }
  return activations;
}

}  // namespace lowtide::kernels_internal
