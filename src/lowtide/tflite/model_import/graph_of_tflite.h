// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide {

// The domain of TFLite's operators in a graph. Their types are the names of the file format, such as CONV_2D.
inline constexpr char kTfliteDomain[] = "tflite";
// The domain of custom operators, which may have the names of others.
inline constexpr char kTfliteCustomDomain[] = "tflite.custom";

struct GraphOfTfliteOptions {
  // Whether nodes and tensors have their numbers as names, such as "0:12" for number 12 of subgraph 0, so that a caller
  // finds them again. Otherwise tensors have their names, and nodes have none, as in the file.
  bool names_by_number = false;
};

struct GraphOfTflite {
  Graph graph;
  ConstantTable constants;  // ranges of the file; the only file is the model
  std::vector<std::string> notes;
};

// Turns a model, as its runtime sees it, into a graph. `bytes` are those of its file.
//
//   - Nodes have the order, the inputs and the outputs of the file. Attributes are the options of the operator under
//     their names in the format. An operand k that is quantized adds in<k>_scale and in<k>_zero_point, with in<k>_axis
//     if there is a scale per index of an axis; a result adds out<k>_...
//   - IF, WHILE and CALL_ONCE have the subgraphs that they run as bodies, whose inputs are inputs of the body.
//   - A variable tensor is a state. Nodes that use one variable or resource, also inside of bodies, are ordered by
//     control inputs, unless all of them only read it.
//   - Names of tensors are those of the file. Empty names and names that are used twice are completed.
//
// Errors: invalid (extents of a result that its operator cannot have), unsupported (element types without a size),
// over_limit. O(bytes + bodies log bodies).
[[nodiscard]] Result<GraphOfTflite> graph_of_tflite(const TfliteModel& model, std::string_view bytes,
                                                    const GraphOfTfliteOptions& options = {});

}  // namespace lowtide
