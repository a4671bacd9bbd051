# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Training graphs of small convolutional networks for record_shapes.py, as users of TensorFlow 1 wrote them."""
import tensorflow as tf

tf1 = tf.compat.v1
CLASSES = 10


class Net:
    """Layers whose variables are references or resources."""

    def __init__(self, batch, uses_resources):
        self.batch = batch
        self.uses_resources = uses_resources
        self.count = 0
        self.updates = []

    def images(self, *extents):
        return tf1.placeholder(tf.float32, [self.batch, *extents], name="images")

    def variable(self, shape, trainable=True):
        self.count += 1
        return tf1.get_variable(f"v{self.count}", shape, use_resource=self.uses_resources, trainable=trainable,
                                initializer=tf1.zeros_initializer() if len(shape) == 1 else None)

    def conv(self, x, channels, size=3, stride=1, padding="SAME", relu=True):
        weights = self.variable([size, size, x.shape[3], channels])
        y = tf.nn.bias_add(tf.nn.conv2d(x, weights, stride, padding), self.variable([channels]))
        return tf.nn.relu(y) if relu else y

    def dense(self, x, width, activation=None):
        y = tf.matmul(x, self.variable([x.shape[1], width])) + self.variable([width])
        return activation(y) if activation else y

    def norm(self, x):
        """Batch norm in training, with moving averages of its statistics."""
        channels = x.shape[3]
        y, mean, variance = tf1.nn.fused_batch_norm(x, self.variable([channels]), self.variable([channels]))
        for average, now in ((self.variable([channels], False), mean), (self.variable([channels], False), variance)):
            self.updates.append(tf1.assign_sub(average, (average - now) * 0.1))
        return y

    def flat(self, x):
        return tf.reshape(x, [-1, x.shape[1] * x.shape[2] * x.shape[3]])

    def sparse_loss(self, logits):
        labels = tf1.placeholder(tf.int32, [self.batch], name="labels")
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        hits = tf.cast(tf1.nn.in_top_k(logits, labels, 3), tf.float32)
        return tf.reduce_mean(each), tf.reduce_mean(hits)

    def dense_loss(self, logits):
        labels = tf1.placeholder(tf.int64, [self.batch], name="labels")
        each = tf1.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(labels, CLASSES), logits=logits)
        hits = tf.equal(tf.argmax(logits, 1), labels)
        return tf.reduce_mean(each), tf.reduce_mean(tf.cast(hits, tf.float32))


def lenet(net):
    x = net.images(28, 28, 1)
    for channels in (6, 16):
        x = tf1.nn.max_pool(net.conv(x, channels, 5), 2, 2, "VALID")
    x = net.dense(net.flat(x), 84, tf.tanh)
    return net.sparse_loss(net.dense(x, CLASSES))


def vgg(net):
    x = net.images(32, 32, 3)
    for channels in (8, 16):
        x = tf1.nn.max_pool(net.conv(net.conv(x, channels), channels), 2, 2, "SAME")
    x = tf1.nn.dropout(net.dense(net.flat(x), 32, tf.nn.relu), rate=0.5)
    loss, accuracy = net.dense_loss(net.dense(x, CLASSES))
    return loss + 0.0005 * tf.add_n([tf.nn.l2_loss(one) for one in tf1.trainable_variables()]), accuracy


def resnet(net):
    x = net.images(32, 32, 3)
    x = tf.nn.relu(net.norm(net.conv(x, 8, relu=False)))
    for channels, stride in ((8, 1), (16, 2)):
        y = tf.nn.relu(net.norm(net.conv(x, channels, stride=stride, relu=False)))
        y = net.norm(net.conv(y, channels, relu=False))
        x = tf.nn.relu(y + (net.conv(x, channels, 1, stride, relu=False) if stride > 1 else x))
    return net.sparse_loss(net.dense(tf.reduce_mean(x, [1, 2]), CLASSES))


def mobilenet(net):
    x = tf.nn.relu6(net.norm(net.conv(net.images(32, 32, 3), 8, stride=2, relu=False)))
    for channels, stride in ((16, 1), (16, 2)):
        weights = net.variable([3, 3, x.shape[3], 1])
        x = tf.nn.relu6(net.norm(tf.nn.depthwise_conv2d(x, weights, [1, stride, stride, 1], "SAME")))
        x = tf.nn.relu6(net.norm(net.conv(x, channels, 1, relu=False)))
    x = tf1.nn.avg_pool(x, 8, 8, "VALID")
    return net.sparse_loss(net.dense(tf.squeeze(x, [1, 2]), CLASSES))


def inception(net):
    x = net.conv(net.images(24, 24, 3), 8, stride=2)
    for _ in range(2):
        branches = [net.conv(x, 4, 1), net.conv(net.conv(x, 4, 1), 6), net.conv(net.conv(x, 2, 1), 4, 5),
                    net.conv(tf1.nn.max_pool(x, 3, 1, "SAME"), 4, 1)]
        x = tf.nn.local_response_normalization(tf.concat(branches, 3))
    x = tf1.nn.avg_pool(x, 3, 2, "SAME")
    return net.dense_loss(net.dense(net.flat(x), CLASSES))


def unet(net):
    x = net.conv(tf.pad(net.images(28, 28, 1), [[0, 0], [2, 2], [2, 2], [0, 0]]), 4)
    skips = []
    for channels in (8, 16):
        skips.append(x)
        x = net.conv(tf1.nn.max_pool(x, 2, 2, "SAME"), channels)
    for skip in reversed(skips):
        channels = skip.shape[3]
        shape = tf.stack([tf.shape(x)[0], 2 * tf.shape(x)[1], 2 * tf.shape(x)[2], channels])
        x = tf.nn.conv2d_transpose(x, net.variable([2, 2, channels, x.shape[3]]), shape, 2)
        x = net.conv(tf.concat([skip, x], -1), channels)
    logits = net.conv(x[:, 2:-2, 2:30, :], 2, 1, relu=False)
    labels = tf1.placeholder(tf.int32, [net.batch, 28, 28], name="labels")
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    hits = tf.equal(tf.argmax(logits, 3, output_type=tf.int32), labels)
    return tf.reduce_mean(each), tf.reduce_sum(tf.cast(hits, tf.float32))


def segmentation(net):
    """Resized feature maps, with weights for the classes."""
    x = net.conv(net.images(32, 32, 3), 8, stride=2)
    low = net.conv(x, 8, stride=2)
    low = tf1.image.resize_bilinear(low, tf.shape(x)[1:3])
    low += tf1.image.resize_nearest_neighbor(net.conv(x, 8, 3, 2), tf.shape(x)[1:3])
    logits = net.conv(tf.concat([x, low], 3), 4, 1, relu=False)
    labels = tf1.placeholder(tf.int32, [net.batch, 16, 16], name="labels")
    weights = tf.gather(tf.constant([0.1, 0.2, 0.3, 0.4]), labels)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits, weights)
    return loss, tf.reduce_max(tf.nn.softmax(logits))


def autoencoder(net):
    x = net.images(16, 16, 2)
    code = net.dense(net.flat(tf1.nn.dropout(net.conv(x, 4, stride=2), rate=0.2)), 12)
    mean, deviation = tf.split(code, 2, axis=1)
    z = mean + tf.exp(0.5 * deviation) * tf1.random_normal(tf.shape(mean))
    y = tf.reshape(net.dense(z, 8 * 8 * 4, tf.nn.elu), [-1, 8, 8, 4])
    shape = [tf.shape(x)[0], 16, 16, 2]
    y = tf.sigmoid(tf.nn.conv2d_transpose(y, net.variable([3, 3, 2, 4]), shape, 2))
    distance = tf.reduce_sum(tf1.squared_difference(x, y), [1, 2, 3])
    divergence = -0.5 * tf.reduce_sum(1 + deviation - tf.square(mean) - tf.exp(deviation), 1)
    return tf.reduce_mean(distance + divergence), tf.norm(y)


def squeezenet(net):
    """Channels first, gates over channels, and a global pool at the end."""
    x = tf.transpose(net.conv(net.images(20, 20, 3), 8, stride=2), [0, 3, 1, 2])
    x = tf1.nn.max_pool(x, 3, 2, "VALID", data_format="NCHW")
    x = tf.transpose(x, [0, 2, 3, 1])
    for _ in range(2):
        squeezed = net.conv(x, 4, 1)
        x = tf.concat([net.conv(squeezed, 6, 1), net.conv(squeezed, 6, 3)], axis=3)
        gate = tf.sigmoid(net.dense(tf.reduce_mean(x, [1, 2]), 12))
        x *= tf.reshape(gate, [-1, 1, 1, 12])
    return net.sparse_loss(tf.reduce_mean(net.conv(x, CLASSES, 1), axis=[1, 2]))


def densenet(net):
    """Pre-activation, subpixels, and a hinge loss."""
    x = net.conv(net.images(16, 16, 3), 8)
    for _ in range(2):
        x = tf.concat([x, net.conv(tf.nn.leaky_relu(net.norm(x)), 4)], 3)
    x = tf.nn.space_to_depth(x, 2)
    x = tf1.nn.avg_pool(net.conv(x, 16, 1), 2, 2, "VALID")
    x = tf.nn.depth_to_space(x, 2)
    logits = net.dense(net.flat(x), CLASSES)
    labels = tf1.placeholder(tf.int32, [net.batch], name="labels")
    right = tf.reduce_sum(logits * tf.one_hot(labels, CLASSES), 1, keepdims=True)
    best, _ = tf.nn.top_k(logits, 2)
    loss = tf.reduce_mean(tf.maximum(0.0, 1.0 + best[:, 1] - tf.squeeze(right, 1)))
    return loss, tf.reduce_mean(tf.math.cumsum(best, 1))


def gradient_descent():
    return tf1.train.GradientDescentOptimizer(0.1)


def momentum():
    step = tf1.train.get_or_create_global_step()
    return tf1.train.MomentumOptimizer(tf1.train.exponential_decay(0.1, step, 1000, 0.9), 0.9)


def adam():
    return tf1.train.AdamOptimizer(0.001)


def minimize(net, optimizer, loss, is_clipped):
    steps = optimizer.compute_gradients(loss)
    if is_clipped:
        clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in steps], 1.0)
        steps = [(gradient, variable) for gradient, (_, variable) in zip(clipped, steps)]
    with tf1.control_dependencies(net.updates):
        return optimizer.apply_gradients(steps)


# Network, optimizer, whether the gradients are clipped.
NETWORKS = [(lenet, gradient_descent, False), (vgg, momentum, False), (resnet, momentum, False),
            (mobilenet, adam, False), (inception, gradient_descent, True), (unet, adam, False),
            (segmentation, adam, False), (autoencoder, adam, True), (squeezenet, momentum, True),
            (densenet, gradient_descent, False)]


def training_graph(network, optimizer, is_clipped, batch, uses_resources):
    """The GraphDef of one step of a training. Without a batch, the graph is one for any batch.

    Only the graphs of the first network also initialize their variables.
    """
    graph = tf.Graph()
    with graph.as_default():
        tf1.set_random_seed(1)
        net = Net(batch, uses_resources)
        loss, accuracy = network(net)
        run = tf.group(minimize(net, optimizer(), loss, is_clipped), tf.identity(loss), tf.identity(accuracy))
        if network is lenet:
            run = tf.group(run, tf1.global_variables_initializer())
    return tf1.graph_util.extract_sub_graph(graph.as_graph_def(), [run.name])
