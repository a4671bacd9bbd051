// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/earlier/baselines/baselines.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/testing/graphs.h"

// Two layers of LSTM over five steps, with the last state of the last layer going into a loss, and all gradients:
// unrolled, and as two loops.
namespace lowtide::testing {
namespace {

constexpr int kLayers = 2;
constexpr int kSteps = 5;

// "h_1_3" is h of layer 1 after step 3; step 0 is the initial state.
std::string at(const std::string& what, int layer, int step) {
  return what + "_" + std::to_string(layer) + "_" + std::to_string(step);
}
std::string weights(const std::string& what, int layer) { return what + "_" + std::to_string(layer); }
std::string below(int layer, int step) { return layer == 0 ? "x_" + std::to_string(step) : at("h", layer - 1, step); }

std::string forward() {
  std::string text;
  for (int step = 1; step <= kSteps; ++step) {
    for (int layer = 0; layer < kLayers; ++layer) {
      const std::string before = at("h", layer, step - 1);
      text += "FC " + below(layer, step) + "," + weights("wx", layer) + " -> " + at("gx", layer, step) + "\n";
      text += "FC " + before + "," + weights("wh", layer) + " -> " + at("gh", layer, step) + "\n";
      text += "Sum " + at("gx", layer, step) + "," + at("gh", layer, step) + " -> " + at("g", layer, step) + "\n";
      text += "LSTMUnit " + before + "," + at("c", layer, step - 1) + "," + at("g", layer, step) + " -> " +
              at("h", layer, step) + "," + at("c", layer, step) + "\n";
    }
  }
  return text + "Flatten " + at("h", kLayers - 1, kSteps) + " -> flat; SoftmaxWithLoss flat,label -> softmax,loss\n";
}

// Returns the gradients that reach h of a layer after a step: from the next step, and from the layer above.
std::string sum_into(int layer, int step) {
  std::vector<std::string> parts;
  if (step < kSteps) parts = {at("unit", layer, step + 1) + "_grad", at("back", layer, step + 1) + "_grad"};
  if (layer + 1 < kLayers) parts.push_back(at("down", layer + 1, step) + "_grad");
  if (layer == kLayers - 1 && step == kSteps) parts.push_back("flat_grad");
  std::string text = "Sum ";
  for (const std::string& part : parts) text += (part == parts.front() ? "" : ",") + part;
  return text + " -> " + at("h", layer, step) + "_grad\n";
}

// The gradient of a weight is summed in place, under one name.
std::string add_to_weight(const std::string& name, int step) {
  const std::string total = name + "_sum";
  const std::string part = name + "_" + std::to_string(step) + "_part";
  return step == kSteps ? "Copy " + part + " -> " + total + "\n" : "Add " + total + "," + part + " -> " + total + "\n";
}

std::string backward() {
  std::string text = "SoftmaxWithLossGradient softmax,label,loss -> flat_grad\n";
  for (int step = kSteps; step >= 1; --step) {
    for (int layer = kLayers - 1; layer >= 0; --layer) {
      text += sum_into(layer, step) + "LSTMUnitGradient " + at("h", layer, step - 1) + "," + at("c", layer, step - 1) +
              "," + at("g", layer, step) + "," + at("c", layer, step) + "," + at("h", layer, step) + "_grad";
      if (step < kSteps) text += "," + at("c", layer, step) + "_grad";
      text += " -> " + at("unit", layer, step) + "_grad," + at("c", layer, step - 1) + "_grad," + at("g", layer, step) +
              "_grad\n";
      const auto fc = [&](const std::string& input, const std::string& weight, const std::string& to) {
        return "FCGradient " + input + "," + weight + "," + at("g", layer, step) + "_grad -> " + weight + "_" +
               std::to_string(step) + "_part," + to + "_grad\n" + add_to_weight(weight, step);
      };
      text += fc(below(layer, step), weights("wx", layer), at("down", layer, step));
      text += fc(at("h", layer, step - 1), weights("wh", layer), at("back", layer, step));
    }
  }
  return text;
}

const std::vector<std::string> kWeightGradients = {"wx_0_sum", "wh_0_sum", "wx_1_sum", "wh_1_sum"};

std::vector<TensorId> ending_in(const Net& net, const std::string& end) {
  std::vector<TensorId> found;
  for (TensorId id : all_ids<TensorId>(net.graph.tensors().size())) {
    if (net.graph.tensor(id).name.ends_with(end)) found.push_back(id);
  }
  return found;
}

Net unrolled() {
  std::vector<std::string> outputs = kWeightGradients;
  outputs.push_back("loss");
  Net net = net_of(forward() + backward(), {.outputs = outputs});
  net.options.gradients = ending_in(net, "_grad");
  return net;
}

// Forward nodes: 4 per layer and step, plus 2. Backward nodes: 1, and per layer and step a Sum, a unit, two FC and
// two sums of weights. Gradients: flat_grad, and six per layer and step.
TEST(BaselinesOfLstm, UnrolledWithGradientsSharesEverywhere) {
  const Net net = unrolled();
  EXPECT_EQ(net.graph.nodes().size(), 10U * 4 + 2 + 1 + 10 * 6);
  EXPECT_EQ(net.options.gradients.size(), 1U + 10 * 6);
  const std::int64_t own = own_arena(net);
  for (const BaselineSpec& spec : baselines()) {
    const BaselineOutcome outcome = outcome_of(net, std::string(spec.name));
    if (!outcome.blobs_left) continue;
    EXPECT_LT(*outcome.blobs_left, outcome.blobs) << spec.name;
    EXPECT_LT(outcome.bytes, outcome.naive) << spec.name;
    for (const std::string& weight : kWeightGradients) EXPECT_EQ(block_of(net, outcome, weight), -1) << spec.name;
    EXPECT_LE(own, outcome.bytes.count()) << spec.name;
  }
}

// A forward tensor whose last use is in a gradient may host later gradients.
TEST(BaselinesOfLstm, GradientsMoveIntoForwardTensors) {
  Net net = unrolled();
  const BaselineOutcome alone = outcome_of(net, "caffe2_gradients");
  for (int step = 1; step <= kSteps; ++step) {
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const char* what : {"g", "c"}) net.options.hosts.push_back(last_of(net, at(what, layer, step)));
    }
  }
  const BaselineOutcome hosted = outcome_of(net, "caffe2_gradients");
  EXPECT_LT(hosted.blobs_left, alone.blobs_left);
  EXPECT_LT(hosted.bytes, alone.bytes);
}

// One layer as a forward loop, which returns its states, and a backward loop, which captures them.
constexpr const char* kLoops = R"(graph "lstm" {
  input x : f32[5,4,10]
  input label : i32[4]
  constant w : f32[20,40]
  constant h0 : f32[4,10]
  constant steps : i64[] = [5]
  constant true : bool[]
  e = Embed(x) : f32[5,4,10]
  n = Norm(e) : f32[5,4,10]
  h, c, hs, cs, gs = Loop(steps, true, h0, h0) {
    body = graph "step" captures (n, w) {
      captured input n : f32[5,4,10]
      captured constant w : f32[20,40]
      input i : i64[]
      input go : bool[]
      input h_before : f32[4,10]
      input c_before : f32[4,10]
      now = Gather(n, i) : f32[4,10]
      both = Join(now, h_before) : f32[4,20]
      g = MatMul(both, w) : f32[4,40]
      h_after, c_after = LSTMUnit(c_before, g) : f32[4,10], f32[4,10]
      output go, h_after, c_after, h_after, c_after, g
    }
  } : f32[4,10], f32[4,10], f32[5,4,10], f32[5,4,10], f32[5,4,40]
  softmax, loss = SoftmaxWithLoss(h, label) : f32[4,10], f32[]
  h_grad = SoftmaxWithLossGradient(softmax, label, loss) : f32[4,10]
  h_loss_grad = Scale(h_grad) : f32[4,10]
  h0_grad, c0_grad, n_grad, w_parts = Loop(steps, true, h_loss_grad, h_loss_grad) {
    body = graph "step back" captures (n, hs, cs, gs, w) {
      captured input n : f32[5,4,10]
      captured input hs : f32[5,4,10]
      captured input cs : f32[5,4,10]
      captured input gs : f32[5,4,40]
      captured constant w : f32[20,40]
      input i : i64[]
      input go : bool[]
      input dh : f32[4,10]
      input dc : f32[4,10]
      g = Gather(gs, i) : f32[4,40]
      c = Gather(cs, i) : f32[4,10]
      dc_before, dg = LSTMUnitGradient(c, g, dh, dc) : f32[4,10], f32[4,40]
      h = Gather(hs, i) : f32[4,10]
      now = Gather(n, i) : f32[4,10]
      dw, dnow, dh_before = MatMulGradient(now, h, w, dg) : f32[20,40], f32[4,10], f32[4,10]
      output go, dh_before, dc_before, dnow, dw
    }
  } : f32[4,10], f32[4,10], f32[5,4,10], f32[5,20,40]
  e_grad = NormGradient(n, n_grad) : f32[5,4,10]
  x_grad = EmbedGradient(e_grad) : f32[5,4,10]
  w_grad = SumOfSteps(w_parts) : f32[20,40]
  output w_grad, loss, x_grad
})";

// The second loop reads n, hs, cs and gs until it ends, so none of its results may share with them. e is not needed
// any more when n exists.
TEST(BaselinesOfLstm, LoopsKeepWhatTheirBodiesRead) {
  Net net{graph_of(kLoops), {}};
  for (const char* name : {"h_grad", "h_loss_grad", "h0_grad", "c0_grad", "n_grad", "e_grad"}) {
    net.options.gradients.push_back(last_of(net, name));
  }
  for (const char* name : {"n", "hs", "cs", "gs", "softmax"}) {
    net.options.hosts.push_back(last_of(net, name));
  }
  for (const BaselineSpec& spec : baselines()) {
    const BaselineOutcome outcome = outcome_of(net, std::string(spec.name));
    if (!outcome.blobs_left) continue;
    EXPECT_LT(*outcome.blobs_left, outcome.blobs) << spec.name;
    for (const char* result : {"h0_grad", "c0_grad", "n_grad", "w_parts"}) {
      for (const char* captured : {"n", "hs", "cs", "gs"}) {
        if (block_of(net, outcome, captured) == -1) continue;
        EXPECT_NE(block_of(net, outcome, result), block_of(net, outcome, captured)) << spec.name;
      }
    }
  }
  // The gradient of e may share with tensors that the second loop does not need any more, and with no others.
  const BaselineOutcome gradients = outcome_of(net, "caffe2_gradients");
  EXPECT_NE(block_of(net, gradients, "e_grad"), -1);
  EXPECT_GT(own_arena(net), 0);  // bodies are planned and verified as well
}

}  // namespace
}  // namespace lowtide::testing
