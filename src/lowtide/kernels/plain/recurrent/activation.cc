// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/recurrent/activation.h"

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
  void (*row)(const float* x, float* y, std::int64_t count, const Numbers& numbers);
  std::optional<float> alpha;  // nullopt: the function has no such parameter
  std::optional<float> beta;
};

float affine(float x, float alpha, float beta) { return alpha * x + beta; }
float elu(float x, float alpha, float /*beta*/) { return x < 0 ? alpha * (exp_f32(x) - 1) : x; }
float hard_sigmoid(float x, float alpha, float beta) {
  const float y = alpha * x + beta;
  const float low = y < 0 ? 0 : y;
  return low > 1 ? 1 : low;
}
float leaky_relu(float x, float alpha, float /*beta*/) { return x < 0 ? alpha * x : x; }
float relu(float x, float /*alpha*/, float /*beta*/) { return x < 0 ? 0 : x; }
float scaled_tanh(float x, float alpha, float beta) { return alpha * tanh_f32(beta * x); }
float soft_plus(float x, float /*alpha*/, float /*beta*/) { return log_f32(1 + exp_f32(x)); }
float soft_sign(float x, float /*alpha*/, float /*beta*/) { return x / (1 + std::fabs(x)); }
float thresholded_relu(float x, float alpha, float /*beta*/) { return x > alpha ? x : 0; }

constexpr std::array kActivations{
    NamedActivation{"affine", &unary_float_loop<&affine>, 1.0F, 0.0F},
    NamedActivation{"elu", &unary_float_loop<&elu>, 1.0F, {}},
    NamedActivation{"hardsigmoid", &unary_float_loop<&hard_sigmoid>, 0.2F, 0.5F},
    NamedActivation{"leakyrelu", &unary_float_loop<&leaky_relu>, 0.01F, {}},
    NamedActivation{"relu", &unary_float_loop<&relu>, {}, {}},
    NamedActivation{"scaledtanh", &unary_float_loop<&scaled_tanh>, 1.0F, 1.0F},
    NamedActivation{"sigmoid", &unary_float_loop<&sigmoid_f32>, {}, {}},
    NamedActivation{"softplus", &unary_float_loop<&soft_plus>, {}, {}},
    NamedActivation{"softsign", &unary_float_loop<&soft_sign>, {}, {}},
    NamedActivation{"tanh", &unary_float_loop<&tanh_f32>, {}, {}},
    NamedActivation{"thresholdedrelu", &unary_float_loop<&thresholded_relu>, 1.0F, {}},
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
    activations.push_back({found->row, {alphas.next(found->alpha), betas.next(found->beta)}});
  }
  return activations;
}

}  // namespace lowtide::kernels_internal
