"""Trains the model on generated data, and writes it: python3 train.py model.onnx

The data stands for measurements of your own cluster: how well pods ran on a node, by the shares of
the node that were requested. Here a formula generates them. A node with c cores and the used share
u is a queue with c servers: the probability that work waits for a core (Erlang C) is much lower on
a large node than on a small one with the same share. Memory is no problem until little is left.
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

# The order of onnx_score.cc.
FEATURES = ("cpu_share", "memory_share", "pods_share", "log2_cores")
HIDDEN, SAMPLES, STEPS = 16, 5_000, 2_000


def waits(cores, share):
    """Returns the probability that work waits for one of the cores."""
    load = min(share, 0.999) * cores
    blocked = 1.0
    for servers in range(1, cores + 1):
        blocked = load * blocked / (servers + load * blocked)
    return blocked / (1 - load / cores * (1 - blocked))


def generate(random):
    """Returns the features of nodes, and how well pods ran on them, in 0..1."""
    shares = random.uniform(0, 1, (SAMPLES, 3))
    log2_cores = random.uniform(0, 7, SAMPLES)
    cores = numpy.round(2**log2_cores).astype(int)
    waiting = numpy.array([waits(c, u) for c, u in zip(cores, shares[:, 0])])
    evicted = 1 / (1 + numpy.exp((0.9 - shares[:, 1]) * 40))
    quality = (1 - waiting) * (1 - evicted) * (1 - 0.1 * shares[:, 2])
    return numpy.column_stack((shares, log2_cores)), quality[:, None]


def predict(weights, features):
    """Returns the hidden layer and the result of the network."""
    w1, b1, w2, b2 = weights
    hidden = numpy.maximum(features @ w1 + b1, 0)
    return hidden, 1 / (1 + numpy.exp(-(hidden @ w2 + b2)))


def train(features, quality, random):
    """Returns the weights of a network with one hidden layer, found with Adam."""
    shapes = ((len(FEATURES), HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,))
    weights = [random.normal(0, 0.5, shape) for shape in shapes]
    means, squares = ([numpy.zeros(shape) for shape in shapes] for _ in range(2))
    for step in range(1, STEPS + 1):
        hidden, rated = predict(weights, features)
        error = (rated - quality) * rated * (1 - rated) / len(features)
        back = (error @ weights[2].T) * (hidden > 0)
        gradients = (features.T @ back, back.sum(0), hidden.T @ error, error.sum(0))
        for weight, gradient, mean, square in zip(weights, gradients, means, squares):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            scaled = mean / (1 - 0.9**step)
            weight -= 0.02 * scaled / (numpy.sqrt(square / (1 - 0.999**step)) + 1e-12)
    return weights


def make_model(weights):
    """Returns the network as an ONNX model. The number of nodes in one call is not fixed."""
    names = ("w1", "b1", "w2", "b2")
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["features", "w1", "b1"], ["sums"]),
         helper.make_node("Relu", ["sums"], ["hidden"]),
         helper.make_node("Gemm", ["hidden", "w2", "b2"], ["rated"]),
         helper.make_node("Sigmoid", ["rated"], ["scores"])],
        "node_score",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["nodes", len(FEATURES)])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["nodes", 1])],
        [numpy_helper.from_array(weight.astype(numpy.float32), name)
         for name, weight in zip(names, weights)])
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model)
    return model


def main():
    random = numpy.random.default_rng(1)
    features, quality = generate(random)
    weights = train(features, quality, random)
    error = numpy.abs(predict(weights, features)[1] - quality).mean()
    print(f"mean error on the generated data: {100 * error:.1f} of 100")
    onnx.save(make_model(weights), sys.argv[1])


if __name__ == "__main__":
    main()
