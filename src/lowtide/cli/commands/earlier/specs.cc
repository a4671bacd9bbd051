// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/specs.h"

#include <vector>

#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/options/shared_options.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/rewrite/share_net.h"

namespace lowtide::cli_internal {
namespace {

OptionSpec then_option(const char* summary) {
  return {.name = "--then", .value = "SIZES", .summary = summary, .kind = ArgumentKind::text, .is_repeatable = true};
}

// These options, and those of a command that plans a model of any format.
std::vector<OptionSpec> before_model_options(std::vector<OptionSpec> options) {
  options.insert(options.end(), {dim_option(), shape_option(), at_most_option(), override_option(), init_net_option(),
                                 shapes_option(), unit_sizes_option(), target_option(), threads_option(),
                                 no_load_time_option(), without_option(), json_option()});
  return options;
}

}  // namespace

CommandSpec compare_command() {
  return {
      .name = "compare",
      .summary = "compare Lowtide's plan with what ONNX Runtime and others would need",
      .description =
          "Plans the model, and applies the rules of TFLite Micro, ExecuTorch, PyTorch's Static Runtime, Caffe2 and "
          "AITemplate to the same graph. Each result is verified for its kind of run: one node after another, any "
          "order that the dependencies allow, or waves. All use the same alignment and scratch. Inputs count only for "
          "TFLite Micro, ExecuTorch and AITemplate, which place them in their arenas. Unlike the others, Lowtide also "
          "chooses the order, writes results in place and avoids copies.\n"
          "The column 'shared' counts shared buffers, and 'reused' the tensors in memory that another one had before. "
          "'left' counts tensors, with each shared buffer as one. 'best by its rule' shows the smallest result that a "
          "search finds under the same rule.\n"
          "The bytes of ONNX Runtime are predicted for this graph. A session optimizes the model first, so compare one "
          "that it has saved.",
      .positionals = {model_positional()},
      .options = before_model_options(
          {{.name = "--same-order",
            .summary = "give the verified planners the order of Lowtide's plan, not the file's"},
           then_option("the sizes of another run, such as batch=8 or x=8x3x224x224: also show what Static "
                       "Runtime, which learns sizes, holds in each run; repeatable"),
           {.name = "--manage-outputs", .summary = "with --then: Static Runtime has a second block for outputs"},
           {.name = "--nodes-at-once",
            .value = "N",
            .summary = "aitemplate_multistream: split waves of more than N nodes; default: no limit"},
           {.name = "--streams",
            .value = "N",
            .summary = "aitemplate_multistream: at most N streams, each with its workspace; default 5"},
           {.name = "--times",
            .value = "FILE",
            .summary = "milliseconds by the names of nodes, or what 'bench --json' printed: also say when "
                       "AITemplate lets each node start and end",
            .kind = ArgumentKind::file},
           {.name = "--places-of",
            .value = "PLANNER",
            .summary = "with --json: also list where this planner, such as aitemplate_greedy_by_size, places "
                       "each tensor and constant",
            .kind = ArgumentKind::text}}),
      .examples = {{"lowtide compare model.onnx", "Compare in the order of the file."},
                   {"lowtide compare model.onnx --same-order --json", "Compare in Lowtide's order, as JSON."},
                   {"lowtide compare model.onnx --dim batch=1 --then batch=8 --then batch=1",
                    "Also replay three runs of Static Runtime."}},
      .run = run_compare};
}

CommandSpec replay_command() {
  return {
      .name = "replay",
      .summary = "replay runs of several sizes in a runtime that learns sizes",
      .description =
          "Shows what PyTorch's Static Runtime holds in each of several runs, one after another. Its first run "
          "allocates each tensor by itself. Later runs have one block with the largest sizes that were seen. Beside "
          "it is Lowtide's arena, which is known before the first run. 'compare --then' shows the same table below "
          "others.",
      .positionals = {model_positional()},
      .options = before_model_options(
          {then_option("the sizes of another run, such as batch=8 or x=8x3x224x224; repeatable"),
           {.name = "--manage-outputs", .summary = "Static Runtime has a second block for outputs"}}),
      .examples = {{"lowtide replay model.onnx --dim batch=1 --then batch=8 --then batch=1", "Replay three runs."},
                   {"lowtide replay model.onnx --dim batch=4 --then batch=1 --manage-outputs --json",
                    "Have a block for outputs, too, as JSON."}},
      .run = run_replay};
}

CommandSpec reorder_command() {
  return {
      .name = "reorder",
      .summary = "write an ONNX file whose order of nodes needs less memory in ONNX Runtime",
      .description =
          "Plans the model, and writes the file again with its nodes in the order in which ONNX Runtime needs the "
          "least memory by its own rules: that of Lowtide's plan, or another one, or the order of the file if no other "
          "is better. All other bytes of the file stay as they are, and external weights are not touched. Nodes inside "
          "If, Loop and Scan keep their order.\n"
          "ONNX Runtime keeps the order with two options of the session: execution_order = PRIORITY_BASED and "
          "graph_optimization_level = ORT_DISABLE_ALL. Its optimizer would change the graph, so give a file that it "
          "has optimized and saved (optimized_model_filepath). Prints the bytes of the first run and of the block for "
          "all temporaries (memory pattern) that later runs take, as predicted. The order with the smallest block "
          "counts.",
      .positionals = {{.name = "MODEL", .summary = "an ONNX file"}},
      .options = {output_option("write the model; - is stdout"), dim_option(), shape_option(), at_most_option(),
                  override_option(), json_option()},
      .examples = {{"lowtide reorder model.onnx -o reordered.onnx", "Write the model in a better order."},
                   {"lowtide reorder model.onnx -o reordered.onnx --json", "Also list the nodes, as JSON."}},
      .run = run_reorder};
}

namespace {

std::vector<std::string> rules_to_choose() {
  std::vector<std::string> rules = share_rules();
  rules.emplace_back(kNoRule);
  return rules;
}

std::vector<OptionSpec> share_options() {
  return {
      output_option("write the net; - is stdout"),
      {.name = "--rule",
       .value = "RULE",
       .summary = "lowtide (default), one of Caffe2's, or with --free none",
       .kind = ArgumentKind::choice,
       .choices = rules_to_choose()},
      {.name = "--order",
       .value = "ORDER",
       .summary = "for caffe2_interference: the order in which operators are written, as_given (default) or "
                  "Caffe2's longest_path",
       .kind = ArgumentKind::choice,
       .choices = {kEnumNames<ShareOrder>.begin(), kEnumNames<ShareOrder>.end()}},
      {.name = "--assigned",
       .value = "FILE",
       .summary = "for caffe2_interference: slots that hold blobs before the rule begins (CSV): slot,blob",
       .kind = ArgumentKind::file},
      {.name = "--head",
       .value = "BLOB",
       .summary = "for caffe2_dag and caffe2_gradients: a blob from which the walk begins; default: the "
                  "inputs, or for gradients the outputs; repeatable",
       .kind = ArgumentKind::text,
       .is_repeatable = true},
      {.name = "--keep",
       .value = "BLOB",
       .summary = "a blob that keeps its name and memory; repeatable",
       .kind = ArgumentKind::text,
       .is_repeatable = true},
      {.name = "--namescope",
       .value = "SCOPE",
       .summary = "the scope of shared names, and of the gradients that share",
       .kind = ArgumentKind::text},
      {.name = "--activations", .summary = "for caffe2_gradients: gradients may move into results of the forward pass"},
      {.name = "--gradient",
       .value = "BLOB",
       .summary = "for caffe2_gradients: a blob that is a gradient, whatever its name; repeatable",
       .kind = ArgumentKind::text,
       .is_repeatable = true},
      {.name = "--gradient-names",
       .value = "WHERE",
       .summary = "for caffe2_gradients: gradients have _grad at the end of their name, suffix (default), "
                  "or anywhere in it, as in versions before August 2017",
       .kind = ArgumentKind::choice,
       .choices = {kEnumNames<GradientNames>.begin(), kEnumNames<GradientNames>.end()}},
      {.name = "--free",
       .summary = "add an operator Free behind the last reader of each blob that --keep does not name, as "
                  "release_blobs_when_used"},
      {.name = "--free-only",
       .value = "BLOB",
       .summary = "with --free: only for this blob; repeatable",
       .kind = ArgumentKind::text,
       .is_repeatable = true},
      shape_option(),
      init_net_option(),
      shapes_option(),
      unit_sizes_option(),
      json_option()};
}

}  // namespace

CommandSpec share_command() {
  return {
      .name = "share",
      .summary = "rename the blobs of a Caffe2 net so that they share memory",
      .description =
          "Plans which blobs of a NetDef share buffers, and writes the net with shared names, as Caffe2's memonger "
          "does. "
          "The rules caffe2_* are those of memonger: caffe2_dag is optimize_inference_for_dag, caffe2_gradients "
          "share_grad_blobs, caffe2_interference_greedy optimize_interference. The rule lowtide finds the least total "
          "of whole buffers, and "
          "changes the order of the operators if that lowers it. Nets inside operators are renamed as well.\n"
          "The result is checked: it has the data flow and the results in place of the net. External inputs and "
          "outputs keep their names. The written net has the form of the one that was read, binary or text.",
      .positionals = {{.name = "NET", .summary = "a NetDef, in binary or text form"}},
      .options = share_options(),
      .examples = {{"lowtide share net.pbtxt --rule caffe2_dag -o shared.pbtxt",
                    "Share as memonger does for nets of type dag."},
                   {"lowtide share predict_net.pb --init-net init_net.pb --shape data=1x3x224x224 -o shared.pb",
                    "Find the least total of whole buffers."},
                   {"lowtide share net.pbtxt --rule none --free -o freed.pbtxt",
                    "Only release what is no longer read."}},
      .run = run_share};
}

CommandSpec convert_command() {
  return {
      .name = "convert",
      .summary = "convert between NetDef, GraphDef, ONNX and the text form of graphs",
      .description =
          "Reads a NetDef, a GraphDef, a graph in Lowtide's text form, or an ONNX model, and writes any of these, "
          "for example to open it in a viewer. A NetDef becomes a NetDef without loss, and a GraphDef a GraphDef. "
          "What another file cannot have is listed.\n"
          "Operators of another system than that of the new file keep their names, so the file is for inspection "
          "only, which a note says. Constants without known content become zeros in a GraphDef, and inputs in an "
          "ONNX model. A name .pb or .pbtxt means NetDef or GraphDef, by what IN is.",
      .positionals = {{.name = "IN", .summary = "a NetDef, a GraphDef, a graph in text form, or an ONNX file"},
                      {.name = "OUT", .summary = "the new file: .pb, .pbtxt, .prototxt, .onnx or .graph; - is stdout"}},
      .options = {{.name = "--to",
                   .value = "FORMAT",
                   .summary = "the format, if the name of OUT does not say it",
                   .kind = ArgumentKind::choice,
                   .choices = {"onnx", "graphdef", "graphdef_text", "netdef", "netdef_text", "graph"}},
                  dim_option(),
                  shape_option(),
                  at_most_option(),
                  init_net_option(),
                  shapes_option(),
                  unit_sizes_option()},
      .examples = {{"lowtide convert predict_net.pb net.pbtxt", "Write the text form of a net."},
                   {"lowtide convert train.pb train.pbtxt", "Write the text form of a graph of TensorFlow."},
                   {"lowtide convert net.pbtxt net.graph --unit-sizes", "Show a net as a graph of tensors."},
                   {"lowtide convert model.onnx graph.pb --to graphdef", "Look at a model in TensorBoard."}},
      .run = run_convert};
}

namespace {

std::vector<OptionSpec> rewrite_options() {
  return {output_option("write the graph; - is stdout"),
          {.name = "--html",
           .value = "FILE",
           .summary = "draw the runs of both planners, and where Grappler falls short, as one offline page; needs "
                      "--cluster",
           .kind = ArgumentKind::file},
          {.name = "--planner",
           .value = "NAME",
           .summary = "grappler (the default) or lowtide, which needs --cluster",
           .kind = ArgumentKind::choice,
           .choices = {"grappler", "lowtide"}},
          {.name = "--level",
           .value = "LEVEL",
           .summary = "what Grappler may do; default: manual",
           .kind = ArgumentKind::choice,
           .choices = {kEnumNames<GrapplerLevel>.begin(), kEnumNames<GrapplerLevel>.end()}},
          {.name = "--scope",
           .value = "SCOPE",
           .summary = "the names of the nodes that read recomputed results; default: gradients/",
           .kind = ArgumentKind::text},
          {.name = "--feed",
           .value = "NODE",
           .summary = "a node that is fed besides the Placeholders, so it is not recomputed; repeatable",
           .kind = ArgumentKind::text,
           .is_repeatable = true},
          {.name = "--fetch",
           .value = "NODE",
           .summary = "a node that is fetched; memory is looked at only if there is one; repeatable",
           .kind = ArgumentKind::text,
           .is_repeatable = true},
          {.name = "--cluster",
           .value = "FILE",
           .summary = "the devices, their memory and speed, as JSON; needs --fetch",
           .kind = ArgumentKind::file},
          {.name = "--link",
           .value = "RATE",
           .summary = "with --planner lowtide or --html, also move results to the host and back, over a link of "
                      "12e9 or 11GiB per second and direction",
           .kind = ArgumentKind::text},
          link_latency_option(),
          shape_option(),
          json_option()};
}

}  // namespace

CommandSpec rewrite_command() {
  return {
      .name = "rewrite",
      .summary = "rewrite a graph of TensorFlow as its MemoryOptimizer does, or as Lowtide plans it",
      .description =
          "Reads a GraphDef and writes the one that the MemoryOptimizer of TensorFlow's Grappler makes of it: "
          "nodes run again for the gradients, and assignments are marked that need no memory for transfers. "
          "With the devices of --cluster, sums are also accumulated in one variable and tensors swapped to the "
          "host where memory is short. The written graph has the form of the one that was read, binary or text.\n"
          "The levels are those of RewriterConfig: manual recomputes and swaps what the attributes "
          "_recompute_hint and _swap_to_host ask for, recomputation and heuristics also recompute cheap "
          "operators.\n"
          "With --planner lowtide, Lowtide orders the nodes, lets some run again and adds the operands of sums one "
          "after another, so that one device has enough memory and a run takes the least time. With --link, results "
          "also leave for the host and come back. The plan is verified. If it does not keep the memory, the exit code "
          "is 1. A search takes up to about ten seconds, and there are three if the graph has sums.",
      .positionals = {{.name = "GRAPH", .summary = "a GraphDef, in binary or text form"}},
      .options = rewrite_options(),
      .examples = {{"lowtide rewrite train.pbtxt --level recomputation -o lean.pbtxt",
                    "Recompute cheap operators for the gradients."},
                   {"lowtide rewrite train.pb --scope tower/gradients/ --json", "See what would run again."},
                   {"lowtide rewrite train.pb --level heuristics --cluster gpu.json --fetch r",
                    "See what would be swapped on these devices, and what it saves."},
                   {"lowtide rewrite train.pb --planner lowtide --cluster gpu.json --fetch r --shape x=8x64 -o lean.pb",
                    "Write the graph in Lowtide's order, within the memory of the device."},
                   {"lowtide rewrite train.pb --planner lowtide --cluster gpu.json --fetch r --shape x=8x64 "
                    "--link 12e9 --link-latency 10us",
                    "See what also moving results to the host would cost."},
                   {"lowtide rewrite train.pb --cluster gpu.json --fetch r --shape x=8x64 --html planners.html",
                    "Draw the runs of both planners."}},
      .run = run_rewrite};
}

CommandSpec diff_command() {
  return {.name = "diff",
          .summary = "say whether two nets are the same up to the names of their results",
          .description =
              "Compares two nets of Caffe2, or two models or graphs in text form: operators, arguments, devices, the "
              "result of which operator each input is, results in place, external outputs and nets inside operators. "
              "Names of results may differ, and so may the order of the operators. Prints where the nets differ, and "
              "then the exit code is 1.",
          .positionals = {{.name = "FIRST", .summary = "a NetDef, a graph in text form, or an ONNX file"},
                          {.name = "SECOND", .summary = "another one"}},
          .options = {dim_option(), shape_option(), at_most_option(), unit_sizes_option(), json_option()},
          .examples = {{"lowtide diff net.pbtxt shared.pbtxt", "Check that a planned net computes the same."},
                       {"lowtide diff model.onnx model.onnx --json", "Compare two models, as JSON."}},
          .run = run_diff};
}

}  // namespace lowtide::cli_internal
