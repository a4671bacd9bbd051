// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/conversion/onnx_builder.h"
#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/earlier/proto/message.h"

namespace lowtide {

struct OnnxOfNetOptions {
  NetGraphOptions graph;  // without unit sizes
  // The net that fills the parameters; nullptr: none. `graph` has the types of its results.
  const ProtoMessage* init_net = nullptr;
  // Parameters that the caller gives, although the init net fills them. Other names have no effect.
  std::set<std::string> given = {};
  bool makes_up_parameters = false;  // those that random operators fill are inputs, and not refused
};

struct OnnxOfNet {
  OnnxForm form;
  std::vector<std::string> notes;
};

// Converts a net for inference to a model of ONNX that computes the same. Its tensors have the names that
// graph_of_net() gives them. Parameters that the init net fills are constants; those that it computes are computed when
// the model is loaded. External inputs that no init net fills are inputs, weights too.
//
// Errors: those of graph_of_net, and unsupported, which lists the operators that cannot be converted, and why: random
// ones, those for training, those with nets inside, and those without a conversion. O(size of the nets, log).
[[nodiscard]] Result<OnnxOfNet> onnx_of_net(const ProtoMessage& net, const OnnxOfNetOptions& options = {});

}  // namespace lowtide
