// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tests/earlier/baselines/nets.h"

// Prints one line of JSON per net and baseline: how many buffers are shared and how many names are left. The counts of
// the original planner for these nets are published or were measured.
namespace {

using lowtide::testing::Net;
using lowtide::testing::net_of;

struct Case {
  const char* name;
  std::string text;
  std::vector<std::string> outputs;
};

std::vector<Case> cases() {
  namespace nets = lowtide::testing;
  return {{"resnet50", nets::resnet50(), {"softmax"}},
          {"chain of 10", nets::chain(10), {"x10"}},
          {"ladder of 8", nets::ladder(8), {"out"}},
          {"4 branches of 5", nets::wide(4, 5), {"out"}},
          {"tree with two losses", nets::tree(false), {"loss1", "loss2"}},
          {"tree, sum written over", nets::tree(true), {"loss1", "loss2"}}};
}

void print(const std::string& name, const Net& net, const std::string& baseline) {
  const lowtide::BaselineOutcome outcome = lowtide::testing::outcome_of(net, baseline);
  std::printf(R"({"net": "%s", "baseline": "%s", "names": %lld, "left": %lld, "shared": %lld})"
              "\n",
              name.c_str(), baseline.c_str(), static_cast<long long>(outcome.blobs),
              static_cast<long long>(outcome.blobs_left.value_or(outcome.blobs)),
              static_cast<long long>(outcome.shared_buffers));
}

void print_gradients() {
  Net net = net_of(lowtide::testing::training(5), {.outputs = {"loss"}});
  net.options.gradients = lowtide::testing::all_of(net, {"loss_grad", "xent_grad", "pred_grad", "fc5_grad", "fc4_grad",
                                                         "fc3_grad", "fc2_grad", "fc1_grad", "data_grad"});
  print("gradients of 5 layers", net, "caffe2_gradients");
}

}  // namespace

int main() {
  try {
    for (const Case& one : cases()) {
      const Net net = net_of(one.text, {.outputs = one.outputs});
      for (const char* baseline : {"caffe2_simple", "caffe2_dag"}) print(one.name, net, baseline);
    }
    print_gradients();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
  return 0;
}
