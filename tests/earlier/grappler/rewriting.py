# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the MemoryOptimizer of TensorFlow, and nothing else of Grappler."""
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, rewriter_config_pb2
from tensorflow.python.grappler import tf_optimizer

CONFIG = rewriter_config_pb2.RewriterConfig
LEVELS = {"default": CONFIG.DEFAULT_MEM_OPT, "none": CONFIG.NO_MEM_OPT, "manual": CONFIG.MANUAL,
          "swapping": CONFIG.SWAPPING_HEURISTICS, "recomputation": CONFIG.RECOMPUTATION_HEURISTICS,
          "scheduling": CONFIG.SCHEDULING_HEURISTICS, "heuristics": CONFIG.HEURISTICS}
OTHER_PASSES = ("layout_optimizer", "constant_folding", "shape_optimization", "remapping",
                "common_subgraph_elimination", "arithmetic_optimization", "dependency_optimization",
                "loop_optimization", "function_optimization", "debug_stripper", "scoped_allocator_optimization",
                "pin_to_host_optimization", "implementation_selector", "auto_mixed_precision", "use_plugin_optimizers")


def meta_graph_of(graph, fetches):
    meta_graph = meta_graph_pb2.MetaGraphDef()
    meta_graph.graph_def.CopyFrom(graph)
    meta_graph.collection_def["train_op"].node_list.value.extend(fetches)
    return meta_graph


def rewrite(graph, fetches, level, scope="-", cluster=None):
    """The graph after the pass at a level, on a cluster or on this machine. A scope of - is the default."""
    config = config_pb2.ConfigProto()
    rewriting = config.graph_options.rewrite_options
    for name in OTHER_PASSES:
        setattr(rewriting, name, CONFIG.OFF)
    rewriting.disable_model_pruning = True
    rewriting.min_graph_nodes = -1
    rewriting.meta_optimizer_iterations = CONFIG.ONE
    rewriting.memory_optimization = LEVELS[level]
    if scope != "-":
        rewriting.memory_optimizer_target_node_name_scope = scope
    return tf_optimizer.OptimizeGraph(config, meta_graph_of(graph, fetches), cluster=cluster)
