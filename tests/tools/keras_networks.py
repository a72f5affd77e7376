# SPDX-License-Identifier: MIT
"""Further networks of tests/tools/exports.py: one or more for each kind of layer, activation and function of Keras that
a network for a small device may have. Names, shapes of the inputs ("i" first: integers of 0 to 39), functions from
inputs to outputs."""
from keras import activations, layers as l, ops

IMAGE, SOUND, STEPS, ROW, CUBE = (16, 16, 3), (32, 8), (10, 6), (24,), (8, 8, 8, 2)
WORDS, WORD = ("i", 12), ("i", 1)


def seq(*parts):
    def run(x):
        for part in parts:
            x = part(x)
        return x
    return run


def conv(channels, size=3, stride=1, **options):
    return seq(l.Conv2D(channels, size, stride, "same", **options), l.BatchNormalization(), l.ReLU())


def head(count=4):
    return seq(l.GlobalAveragePooling2D(), l.Dense(count, "softmax"))


def head1(count=3):
    return seq(l.GlobalAveragePooling1D(), l.Dense(count, "softmax"))


def applied(name):
    return seq(l.Dense(12, name), l.Dense(3))


def dense_block(x):
    for _ in range(3):
        x = l.Concatenate()([x, l.Conv2D(4, 3, padding="same", activation="relu")(x)])
    return head()(l.AveragePooling2D(2)(x))


def convnext(x):
    x = l.Conv2D(8, 4, 4)(x)
    y = seq(l.DepthwiseConv2D(7, padding="same"), l.LayerNormalization(epsilon=1e-6), l.Dense(16, "gelu"),
            l.Dense(8))(x)
    return head()(l.Add()([x, y]))


def mixer(x):
    x = l.Reshape((16, 12))(seq(l.Conv2D(12, 4, 4))(x))
    y = l.Permute((2, 1))(l.LayerNormalization()(x))
    x = l.Add()([x, l.Permute((2, 1))(l.Dense(16)(l.Dense(8, "gelu")(y)))])
    return head1()(l.Add()([x, l.Dense(12)(l.Dense(24, "gelu")(l.LayerNormalization()(x)))]))


def vision(x):
    x = l.Reshape((16, 12))(l.Conv2D(12, 4, 4)(x))
    x = x + l.Embedding(16, 12)(ops.expand_dims(ops.arange(16), 0))
    y = l.LayerNormalization()(x)
    x = l.Add()([x, l.MultiHeadAttention(2, 6)(y, y)])
    x = l.Add()([x, l.Dense(12)(l.Dense(24, "gelu")(l.LayerNormalization()(x)))])
    return l.Dense(5)(x[:, 0])


def shuffle(x):
    y = seq(l.Conv2D(8, 1, groups=2), l.Reshape((16, 16, 2, 4)), l.Permute((1, 2, 4, 3)), l.Reshape((16, 16, 8)),
            l.DepthwiseConv2D(3, padding="same"))(x)
    return head()(l.Concatenate()([x, y]))


def wavenet(x):
    x, skips = l.Conv1D(8, 1)(x), []
    for d in (1, 2, 4):
        y = l.Multiply()([l.Conv1D(8, 2, padding="causal", dilation_rate=d, activation="tanh")(x),
                          l.Conv1D(8, 2, padding="causal", dilation_rate=d, activation="sigmoid")(x)])
        y = l.Conv1D(8, 1)(y)
        skips.append(y)
        x = l.Add()([x, y])
    return l.Conv1D(3, 1)(l.ReLU()(l.Add()(skips)))


def squeeze_excite(x):
    x = conv(8)(x)
    s = l.GlobalAveragePooling2D(keepdims=True)(x)
    s = l.Conv2D(8, 1, activation="hard_sigmoid")(l.Conv2D(4, 1, activation="swish")(s))
    return head()(l.Multiply()([x, s]))


def pyramid(x):
    a = conv(6)(x)
    b = conv(6, stride=2)(a)
    c = conv(6, stride=2)(b)
    b = l.Add()([b, l.UpSampling2D(2)(c)])
    return [l.Conv2D(4, 3, padding="same")(b), l.Add()([a, l.UpSampling2D(2, interpolation="bilinear")(b)])]


def detector(x):
    y = l.Reshape((64, 7))(l.Conv2D(7, 1)(conv(8, stride=2)(x)))
    xy = ops.sigmoid(y[..., :2])
    return l.Concatenate()([xy, ops.exp(y[..., 2:4]), ops.softmax(y[..., 4:])])


def aspp(x):
    x = conv(6)(x)
    parts = [l.Conv2D(4, 3, padding="same", dilation_rate=d, activation="relu")(x) for d in (1, 2, 4)]
    parts.append(
        l.UpSampling2D(16, interpolation="bilinear")(l.Conv2D(4, 1)(l.GlobalAveragePooling2D(keepdims=True)(x))))
    return l.Conv2D(2, 1)(l.Concatenate()(parts))


def siamese(x):
    shared = l.Dense(8, "relu")
    return l.Dense(1, "sigmoid")(ops.abs(shared(x[0]) - shared(x[1])))


def wide_deep(x):
    return l.Dense(2, "softmax")(l.Concatenate()([x[0], l.Dense(8, "relu")(l.Flatten()(l.Embedding(40, 4)(x[1])))]))


def transformer(x):
    x = l.Embedding(40, 12)(x)
    y = l.MultiHeadAttention(2, 6)(x, x, use_causal_mask=True)
    x = l.LayerNormalization()(l.Add()([x, y]))
    return l.Dense(40)(l.LayerNormalization()(l.Add()([x, l.Dense(12)(l.Dense(24, "relu")(x))])))


def highway(x):
    t = l.Dense(24, "sigmoid")(x)
    return l.Dense(3)(t * l.Dense(24, "relu")(x) + (1 - t) * x)


def merged(kind):
    return lambda x: l.Dense(3)(kind()([l.Dense(8, "relu")(x[0]), l.Dense(8, "tanh")(x[1])]))


def keras_layers():
    return ([
        ("conv1d-dilated", [SOUND], seq(l.Conv1D(8, 3, dilation_rate=2, padding="same", activation="relu"),
                                        l.Conv1D(8, 3, dilation_rate=4), head1())),
        ("separable1d", [SOUND],
         seq(l.SeparableConv1D(12, 3, padding="same", activation="relu"),
             l.SeparableConv1D(8, 5, 2, depth_multiplier=2), head1())),
        ("transpose1d", [SOUND], seq(l.Conv1D(4, 4, 2, "same", activation="relu"), l.Conv1DTranspose(6, 4, 2, "same"),
                                     l.Conv1DTranspose(2, 3))),
        ("transpose-valid", [(8, 8, 4)],
         seq(l.Conv2DTranspose(6, 3, 2, activation="relu"),
             l.Conv2DTranspose(3, (2, 4), (1, 2), "same", use_bias=False))),
        ("transpose-cropped", [(8, 8, 4)],
         seq(l.Conv2DTranspose(4, 5, 2, "same", activation="tanh"), l.Cropping2D(((0, 1), (1, 0))))),
        ("conv3d", [CUBE], seq(l.Conv3D(4, 3, activation="relu"), l.MaxPooling3D(2), l.Flatten(), l.Dense(3))),
        ("pools1d", [SOUND], seq(l.Conv1D(6, 3), l.AveragePooling1D(2), l.MaxPooling1D(3, 2, "same"), l.Flatten(),
                                 l.Dense(3))),
        ("pool-same", [IMAGE], seq(l.AveragePooling2D(3, 2, "same"), l.Conv2D(4, 3), l.MaxPooling2D(3, 1, "same"),
                                   head())),
        ("locally", [IMAGE],
         seq(l.DepthwiseConv2D(3, depth_multiplier=2, activation="relu"), l.DepthwiseConv2D(5, 2, "same"), head())),
        ("depthwise-dilated", [IMAGE], seq(l.DepthwiseConv2D(3, dilation_rate=2, padding="same"), l.ReLU(), head())),
        ("gru-loop", [STEPS], seq(l.GRU(8), l.Dense(3, "softmax"))),
        ("rnn-loop", [STEPS], seq(l.SimpleRNN(8), l.Dense(3))),
        ("gru-before", [STEPS], seq(l.GRU(8, reset_after=False, unroll=True), l.Dense(3))),
        ("lstm-sequences", [STEPS], seq(l.LSTM(8, return_sequences=True), l.LSTM(6, return_sequences=True),
                                        l.Dense(3, "softmax"))),
        ("lstm-unrolled-sequences", [STEPS],
         seq(l.LSTM(8, return_sequences=True, unroll=True), l.TimeDistributed(l.Dense(3)))),
        ("bi-lstm", [STEPS], seq(l.Bidirectional(l.LSTM(6)), l.Dense(3, "softmax"))),
        ("bi-lstm-unrolled", [STEPS], seq(l.Bidirectional(l.LSTM(6, unroll=True, return_sequences=True)), l.Dense(3))),
        ("bi-gru", [STEPS], seq(l.Bidirectional(l.GRU(6, return_sequences=True), merge_mode="sum"), l.Dense(3))),
        ("bi-rnn-unrolled", [STEPS], seq(l.Bidirectional(l.SimpleRNN(6, unroll=True)), l.Dense(3))),
        ("rnn-backwards", [STEPS], seq(l.LSTM(6, go_backwards=True, unroll=True), l.Dense(3))),
        ("rnn-relu", [STEPS], seq(l.SimpleRNN(8, activation="relu", return_sequences=True, unroll=True), l.Flatten(),
                                  l.Dense(3))),
        ("time-distributed", [(4, 8, 8, 2)], seq(l.TimeDistributed(l.Conv2D(3, 3)), l.Flatten(), l.Dense(3))),
        ("cnn-lstm", [SOUND], seq(l.Conv1D(8, 3, activation="relu"), l.MaxPooling1D(2), l.LSTM(8, unroll=True),
                                  l.Dense(3, "softmax"))),
        ("cnn-gru-words", [WORDS], seq(l.Embedding(40, 8), l.Conv1D(8, 3, activation="relu"), l.GRU(6, unroll=True),
                                       l.Dense(2, "softmax"))),
        ("words", [WORDS], seq(l.Embedding(40, 8), l.GlobalAveragePooling1D(), l.Dense(8, "relu"),
                               l.Dense(2, "softmax"))),
        ("words-lstm", [WORDS], seq(l.Embedding(40, 8), l.LSTM(8), l.Dense(2, "softmax"))),
        ("words-transformer", [WORDS], transformer),
        ("repeat", [ROW], seq(l.Dense(6), l.RepeatVector(5), l.LSTM(6, return_sequences=True, unroll=True),
                              l.TimeDistributed(l.Dense(2)))),
        ("layer-norm", [IMAGE], seq(l.Conv2D(8, 3), l.LayerNormalization(axis=[1, 2, 3]), l.ReLU(), head())),
        ("group-norm", [IMAGE], seq(l.Conv2D(8, 3), l.GroupNormalization(4), l.ReLU(), head())),
        ("instance-norm", [IMAGE], seq(l.Conv2D(8, 3), l.GroupNormalization(-1), l.ReLU(), head())),
        ("rms-norm", [ROW], seq(l.Dense(16), l.RMSNormalization(), l.Dense(3))),
        ("unit-norm", [ROW], seq(l.Dense(16), l.UnitNormalization())),
        ("batch-norm-first", [IMAGE], seq(l.BatchNormalization(), l.Conv2D(4, 3), head())),
        ("rescaling", [IMAGE], seq(l.Rescaling(1 / 127.5, -1), l.Conv2D(4, 3, activation="relu"), head())),
        ("normalization", [ROW], seq(l.Normalization(mean=0.3, variance=2.0), l.Dense(3))),
        ("resizing", [IMAGE], seq(l.Conv2D(4, 3), l.Resizing(20, 24), l.Conv2D(2, 3))),
        ("resizing-nearest", [IMAGE], seq(l.Conv2D(4, 3), l.Resizing(9, 21, "nearest"), l.Conv2D(2, 3))),
        ("upsample1d", [SOUND], seq(l.Conv1D(4, 3), l.UpSampling1D(2), l.Conv1D(2, 3))),
        ("upsample3", [IMAGE], seq(l.Conv2D(4, 3), l.UpSampling2D((3, 2)), l.Conv2D(2, 3))),
        ("pad-crop1d", [SOUND], seq(l.ZeroPadding1D(2), l.Conv1D(4, 3), l.Cropping1D((1, 2)), head1())),
        ("center-crop", [IMAGE], seq(l.CenterCrop(10, 12), l.Conv2D(4, 3), head())),
        ("permute", [IMAGE], seq(l.Permute((3, 1, 2)), l.Conv2D(4, 3, padding="same"), l.Flatten(), l.Dense(3))),
        ("densenet", [IMAGE], dense_block), ("convnext", [IMAGE], convnext), ("mixer", [IMAGE], mixer),
        ("vision-transformer", [IMAGE], vision), ("shuffle", [(16, 16, 8)], shuffle),
        ("wavenet", [SOUND], wavenet), ("squeeze-excite", [IMAGE], squeeze_excite), ("pyramid", [IMAGE], pyramid),
        ("detector", [IMAGE], detector), ("aspp", [IMAGE], aspp),
        ("efficient", [IMAGE], seq(l.Conv2D(8, 3, 2, "same", use_bias=False), l.BatchNormalization(),
                                   l.Activation("swish"), l.DepthwiseConv2D(3, padding="same", use_bias=False),
                                   l.BatchNormalization(), l.Activation("swish"), l.Conv2D(4, 1), head())),
        ("super-resolution", [IMAGE],
         seq(l.Conv2D(8, 3, padding="same", activation="relu"), l.Conv2D(12, 3, padding="same"),
             lambda x: ops.nn.depth_to_space(x, 2) if hasattr(ops.nn, "depth_to_space")
             else l.Reshape((32, 32, 3))(l.Permute((1, 3, 2, 4, 5))(l.Reshape((16, 16, 2, 2, 3))(x))))),
        ("siamese", [ROW, ROW], siamese), ("wide-deep", [ROW, WORD], wide_deep), ("highway", [ROW], highway),
        ("glu", [ROW], lambda x: l.Dense(3)(activations.glu(l.Dense(16)(x)))),
        ("subtract", [ROW, ROW], merged(l.Subtract)), ("multiply", [ROW, ROW], merged(l.Multiply)),
        ("average", [ROW, ROW], merged(l.Average)), ("maximum", [ROW, ROW], merged(l.Maximum)),
        ("minimum", [ROW, ROW], merged(l.Minimum)),
        ("dot", [ROW, ROW], lambda x: l.Dot(1, normalize=True)([l.Dense(8)(x[0]), l.Dense(8)(x[1])])),
        ("dot-attention", [STEPS], lambda x: l.Attention()([l.Dense(8)(x), l.Dense(8)(x)])),
        ("additive-attention", [STEPS], lambda x: l.AdditiveAttention()([l.Dense(8)(x), l.Dense(8)(x)])),
        ("grouped-attention", [STEPS], lambda x: l.Dense(2)(l.GroupQueryAttention(6, 4, 2)(x, x))),
        ("einsum-dense", [STEPS], seq(l.EinsumDense("abc,cde->abde", (10, 2, 4)), l.Flatten(), l.Dense(2))),
        ("one-hot", [WORDS], seq(l.CategoryEncoding(40, "multi_hot"), l.Dense(3))),
        ("one-hot-words", [WORDS], lambda x: l.Dense(3)(l.Flatten()(ops.one_hot(x, 40)))),
        ("leaky-relu6", [IMAGE], seq(l.Conv2D(4, 3), l.ReLU(6.0, 0.2), l.Conv2D(4, 3), l.ReLU(threshold=0.5), head())),
        ("prelu-shared", [IMAGE], seq(l.Conv2D(4, 3), l.PReLU(shared_axes=[1, 2]), head())),
    ] + [(name.replace("_", "-"), [ROW], applied(name)) for name in (
        "gelu", "mish", "softsign", "hard_silu", "hard_tanh", "celu", "log_sigmoid", "relu6", "silu", "exponential",
        "squareplus", "sparse_plus", "hard_shrink",
        "soft_shrink", "tanh_shrink", "log_softmax", "selu", "hard_sigmoid", "softplus", "linear")
    ] + [("gelu-exact", [ROW], lambda x: l.Dense(3)(activations.gelu(l.Dense(12)(x), approximate=False)))
    ] + [("ops-" + name, shapes, of) for name, shapes, of in (
        ("cumsum", [STEPS], lambda x: ops.cumsum(l.Dense(4)(x), axis=1)),
        ("top-k", [ROW], lambda x: list(ops.top_k(l.Dense(12)(x), 3))),
        ("argmax", [ROW], lambda x: ops.argmax(l.Dense(12)(x), axis=-1)),
        ("argmin", [ROW], lambda x: ops.argmin(l.Dense(12)(x), axis=-1)),
        ("einsum", [STEPS, STEPS], lambda x: ops.einsum("bij,bkj->bik", x[0], x[1])),
        ("matmul", [STEPS, (6, 4)], lambda x: ops.matmul(x[0], x[1])),
        ("roll", [STEPS], lambda x: ops.roll(l.Dense(4)(x), 2, axis=1)),
        ("flip", [STEPS], lambda x: ops.flip(l.Dense(4)(x), axis=1)),
        ("where", [ROW], lambda x: ops.where(x > 0.1, l.Dense(24)(x), x)),
        ("clip", [ROW], lambda x: ops.clip(l.Dense(8)(x), -0.3, 0.4)),
        ("round", [ROW], lambda x: ops.round(l.Dense(8)(x) * 4)),
        ("floor", [ROW], lambda x: ops.floor(l.Dense(8)(x) * 4)),
        ("ceil", [ROW], lambda x: ops.ceil(l.Dense(8)(x) * 4)), ("sign", [ROW], lambda x: ops.sign(l.Dense(8)(x))),
        ("mod", [ROW], lambda x: ops.mod(l.Dense(8)(x), 0.7)),
        ("floor-divide", [ROW], lambda x: ops.floor_divide(l.Dense(8)(x), 0.7)),
        ("variance", [STEPS], lambda x: ops.concatenate([ops.var(x, axis=1), ops.std(x, axis=1), ops.mean(x, axis=1)],
                                                        -1)),
        ("logsumexp", [STEPS], lambda x: ops.logsumexp(l.Dense(4)(x), axis=1)),
        ("norm", [STEPS], lambda x: ops.norm(l.Dense(4)(x), axis=-1)),
        ("normalize", [STEPS], lambda x: ops.normalize(l.Dense(4)(x), axis=-1)),
        ("prod", [STEPS], lambda x: ops.prod(l.Dense(4)(x), axis=1)),
        ("maxima", [STEPS], lambda x: ops.concatenate([ops.max(x, axis=1), ops.min(x, axis=1), ops.amax(x, axis=1)],
                                                      -1)), ("sum", [IMAGE],
                                                          lambda x: ops.sum(l.Conv2D(4, 3)(x), axis=(1, 2))),
        ("take", [STEPS], lambda x: ops.take(l.Dense(4)(x), [3, 1, -1], axis=1)),
        ("rsqrt", [ROW], lambda x: ops.rsqrt(ops.square(l.Dense(8)(x)) + 0.1)),
        ("log", [ROW], lambda x: ops.log(ops.abs(l.Dense(8)(x)) + 0.1)),
        ("log1p", [ROW], lambda x: ops.log1p(ops.abs(l.Dense(8)(x)))),
        ("expm1", [ROW], lambda x: ops.expm1(l.Dense(8)(x))),
        ("sin-cos", [ROW], lambda x: ops.concatenate([ops.sin(x), ops.cos(x)], -1)),
        ("tan", [ROW], lambda x: ops.tan(ops.tanh(x))), ("arctan2", [ROW, ROW], lambda x: ops.arctan2(x[0], x[1])),
        ("arctan", [ROW], ops.arctan),
        ("sinh", [ROW], ops.sinh), ("erf", [ROW], lambda x: ops.erf(l.Dense(8)(x))),
        ("softmax-axis", [STEPS], lambda x: ops.softmax(l.Dense(4)(x), axis=1)),
        ("power", [ROW], lambda x: ops.power(ops.abs(x) + 0.1, 1.7)),
        ("square-root", [ROW], lambda x: ops.sqrt(ops.relu(l.Dense(8)(x)))),
        ("divide", [ROW, ROW], lambda x: x[0] / (ops.abs(x[1]) + 1)),
        ("logical", [ROW], lambda x: ops.cast(ops.logical_or(ops.logical_and(x > 0, x < 1), ops.logical_not(x > -1)),
                                              "float32")),
        ("stack", [ROW, ROW], lambda x: ops.stack([x[0], x[1]], axis=1)),
        ("split", [ROW], lambda x: ops.split(l.Dense(12)(x), 3, axis=-1)),
        ("unstack", [STEPS], lambda x: ops.add(*ops.unstack(l.Dense(4)(x)[:, :2], axis=1))),
        ("tile", [STEPS], lambda x: ops.tile(l.Dense(4)(x), (1, 2, 3))),
        ("pad", [IMAGE], lambda x: ops.pad(l.Conv2D(4, 3)(x), ((0, 0), (1, 2), (2, 1), (0, 0)), "reflect")),
        ("pad-symmetric", [IMAGE], lambda x: ops.pad(x, ((0, 0), (1, 2), (2, 1), (0, 0)), "symmetric")),
        ("pad-value", [IMAGE], lambda x: ops.pad(x, ((0, 0), (1, 2), (2, 1), (0, 0)), "constant", 1.0)),
        ("broadcast", [(1, 6)], lambda x: ops.broadcast_to(x, (1, 5, 6))),
        ("slice-steps", [STEPS], lambda x: x[:, ::2, 1:-1]), ("slice-back", [STEPS], lambda x: x[:, ::-1, -3:]),
        ("slice-new", [STEPS], lambda x: x[:, 2, None, ..., 1:3]),
        ("one-hot-of-max", [ROW], lambda x: ops.one_hot(ops.argmax(x, -1), 24)),
        ("sort", [ROW], lambda x: ops.sort(l.Dense(8)(x), axis=-1)),
        ("argsort", [ROW], lambda x: ops.argsort(l.Dense(8)(x), axis=-1)),
        ("take-along", [STEPS, ("i", 10, 1)], lambda x: ops.take_along_axis(x[0], ops.cast(ops.mod(x[1], 6), "int32"),
            axis=2)), ("tri", [(6, 6)], lambda x: ops.triu(x) + ops.tril(x, -1) * 2),
            ("diag", [(6, 6)], lambda x: ops.diagonal(x, axis1=1, axis2=2)),
        ("integers", [WORDS], lambda x: x * 3 - ops.floor_divide(x, 4) + ops.mod(x, 5)),
        ("equal", [WORDS, WORDS], lambda x: ops.cast(ops.equal(x[0], x[1]), "int32")
         + ops.cast(ops.not_equal(x[0], 3), "int32")),
         ("segments", [WORDS], lambda x: ops.maximum(ops.minimum(x, 20), 3)),
        ("rfft", [(32,)], lambda x: ops.concatenate(list(ops.rfft(x)), -1)),
        ("stft", [(64,)], lambda x: ops.concatenate(list(ops.stft(x, 16, 8, 16)), -1)),
        ("bicubic", [IMAGE], lambda x: ops.image.resize(x, (24, 24), "bicubic")),
        ("any-all", [ROW], lambda x: ops.cast(ops.stack([ops.any(x > 1, -1), ops.all(x > -2, -1)], -1), "float32")),
        ("count", [ROW], lambda x: ops.count_nonzero(ops.relu(x), -1)),
        ("outer", [ROW], lambda x: ops.einsum("bi,bj->bij", x, x)),
        ("conv", [IMAGE], lambda x: ops.average_pool(ops.conv(x, ops.ones((3, 3, 3, 2)), 1, "valid"), 2, 2, "valid")),
        ("moments", [IMAGE], lambda x: ops.concatenate(list(ops.moments(x, (1, 2))), -1)),
        ("swapaxes", [IMAGE], lambda x: ops.swapaxes(l.Conv2D(4, 3)(x), 1, 3)),
        ("reshape", [IMAGE], lambda x: ops.reshape(l.Conv2D(4, 3)(x), (-1, 8, 7))),
        ("cumprod", [STEPS], lambda x: ops.cumprod(x, axis=1)),
        ("linspace", [ROW], lambda x: x * ops.linspace(0.0, 1.0, 24)),
        ("logaddexp", [ROW, ROW], lambda x: ops.logaddexp(x[0], x[1])),
        ("sigmoid-table", [IMAGE], lambda x: ops.sigmoid(l.Conv2D(4, 3)(x)) * 2 - 1),
        ("zeros-like", [ROW], lambda x: ops.concatenate([x, ops.zeros_like(x), ops.ones_like(x)], -1)),
        ("scatter", [WORDS], lambda x: ops.scatter(ops.expand_dims(x[0], -1), ops.cast(x[0], "float32"), (40,))),
        ("scan-map", [STEPS], lambda x: ops.vectorized_map(lambda r: r * 2 + 1, x)))
    ])
