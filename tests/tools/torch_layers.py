# SPDX-License-Identifier: MIT
"""More networks of PyTorch, for exports.py: building blocks of published networks for small devices, and each a family
of layers. The form is that of torch_networks.py."""
import torch
from torch import nn
from torch.nn import functional as F


class Of(nn.Module):
    """A function of its parts: Of(function, name=module, ...) computes function(self, inputs...)."""
    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, a, b=None, c=None):
        return self.function(self, *[x for x in (a, b, c) if x is not None])


def plain(function):
    return Of(lambda m, *inputs: function(*inputs))


def norm_conv(a, b, kernel=3, stride=1, groups=1, act=nn.ReLU6):
    return nn.Sequential(nn.Conv2d(a, b, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(b),
                         act())


def inverted(c, act=nn.ReLU6):
    parts = nn.Sequential(norm_conv(c, 3 * c, 1, act=act), norm_conv(3 * c, 3 * c, groups=3 * c, act=act),
                          nn.Conv2d(3 * c, c, 1, bias=False), nn.BatchNorm2d(c))
    return Of(lambda m, x: x + m.parts(x), parts=parts)


def basic_block(a, b, stride):
    return Of(lambda m, x: F.relu(m.short(x) + m.parts(x)), parts=nn.Sequential(
        nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
        nn.Conv2d(b, b, 3, 1, 1, bias=False),
        nn.BatchNorm2d(b)), short=nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b)))


def squeezed(c, act):
    return Of(lambda m, x: x * m.gate(x), gate=nn.Sequential(
        nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c // 4, 1), act(), nn.Conv2d(c // 4, c, 1), nn.Sigmoid()))


def head(c, classes=4):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(c, classes))


def shuffle_unit(m, x):
    a, b = x.chunk(2, 1)
    y = torch.cat([a, m.parts(b)], 1)
    n, c, h, w = y.shape
    return y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


def gated_layers(m, x):
    """Dilated causal convolutions with gates, and a sum of their skips."""
    total = 0
    for i, layer in enumerate(m.layers):
        a, b = layer(F.pad(x, (2 << i, 0))).chunk(2, 1)
        y = m.mix[i](torch.tanh(a) * torch.sigmoid(b))
        total, x = total + y, x + y
    return m.last(F.relu(total))


def step_by_step(m, x):
    h = c = x.new_zeros(1, 6)
    for t in range(x.shape[1]):
        h, c = m.cell(x[:, t], (h, c))
    return h


def vision(m, x):
    y = m.patches(x).flatten(2).transpose(1, 2)
    y = torch.cat([m.first.expand(y.shape[0], -1, -1), y], 1) + m.position
    return m.last(m.layers(y)[:, 0])


def mixer(m, x):
    x = x + m.tokens(m.norm(x).transpose(1, 2)).transpose(1, 2)
    return x + m.channels(m.norm(x))


def next_block(m, x):
    """Depthwise 7x7, then dense layers over channels that are last."""
    y = m.depth(x).permute(0, 2, 3, 1)
    return x + (m.scale * m.two(F.gelu(m.one(m.norm(y))))).permute(0, 3, 1, 2)


def rotated(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def llama_block(m, x):
    y = m.norm(x)
    q, k, v = (m.q(y).view(1, -1, 4, 4).transpose(1, 2), m.k(y).view(1, -1, 2, 4).transpose(1, 2),
               m.v(y).view(1, -1, 2, 4).transpose(1, 2))
    q, k = rotated(q, m.cos, m.sin), rotated(k, m.cos, m.sin)
    k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    x = x + m.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(1, -1, 16))
    y = m.after(x)
    return x + m.down(F.silu(m.gate(y)) * m.up(y))


def attend(x, mask):
    q, k, v = x.view(1, 6, 2, 8).transpose(1, 2).chunk(2, -1) + (x.view(1, 6, 2, 8).transpose(1, 2),)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.3)


def pyramid(m, x):
    a = m.one(x)
    b = m.two(a)
    return m.side(a) + F.interpolate(m.top(b), size=a.shape[-2:], mode="nearest"), b


def spiking(m, x):
    """Leaky units that fire at a threshold and lose it."""
    v = x.new_zeros(1, 6)
    fired = []
    for t in range(x.shape[1]):
        v = 0.9 * v + m.layer(x[:, t])
        spike = (v > 0.3).float()
        v = v - 0.3 * spike
        fired.append(spike)
    return torch.stack(fired, 1).mean(1)


def faked(m, x):
    """What quantization-aware training leaves: grids of activations, and of weights for each channel."""
    grid = lambda y: torch.fake_quantize_per_tensor_affine(y, 0.05, 3, -128, 127)
    weights = lambda w, s: torch.fake_quantize_per_channel_affine(w, s, torch.zeros(w.shape[0], dtype=torch.int32), 0,
        -128, 127)
    y = F.relu(F.conv2d(grid(x), weights(m.conv.weight, m.steps), m.conv.bias, padding=1))
    return grid(F.linear(grid(y).mean((2, 3)), weights(m.dense.weight, m.steps[:4]), m.dense.bias))


def spatial(m, x):
    theta = m.where(x).view(-1, 2, 3) * 0.2 + m.unit
    return F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False)


def spectrum(m, x):
    return torch.stft(x, 32, 16, window=m.window, center=False, return_complex=True).abs().clamp(min=1e-3).log()


def chosen(m, x):
    return torch.cond(x.sum() > 0, lambda y: torch.relu(y), lambda y: y * 2, (x,))


def nets():
    s, torch_lambda = nn.Sequential, plain
    transformer = lambda **o: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.1, **o)
    angle = torch.outer(torch.arange(5.), 10000. ** (-torch.arange(0, 4, 2) / 4)).repeat(1, 2)
    image, sound, rows, words = (1, 3, 16, 16), (1, 4, 32), (1, 10), ("i", 1, 12)
    blocks = {
        "mobilenet-v2": (s(norm_conv(3, 8, stride=2), inverted(8), inverted(8), norm_conv(8, 16, 1), head(16)),
                         [image]),
        "mobilenet-v3": (s(norm_conv(3, 8, 3, 2, act=nn.Hardswish), inverted(8, nn.Hardswish), squeezed(8, nn.ReLU),
                           head(8)), [image]),
        "resnet": (s(norm_conv(3, 8, act=nn.ReLU), nn.MaxPool2d(3, 2, 1), basic_block(8, 16, 2),
                     basic_block(16, 16, 1), head(16)), [image]),
        "efficient": (s(norm_conv(3, 8, 3, 2, act=nn.SiLU), inverted(8, nn.SiLU), squeezed(8, nn.SiLU), head(8)),
                      [image]),
        "squeeze fire": (s(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), Of(
            lambda m, x: torch.cat([F.relu(m.one(m.in_(x))), F.relu(m.three(m.in_(x)))], 1),
            in_=nn.Conv2d(8, 4, 1), one=nn.Conv2d(4, 8, 1), three=nn.Conv2d(4, 8, 3, padding=1)), head(16)), [image]),
        "dense block": (s(nn.Conv2d(3, 8, 3, padding=1), *[Of(lambda m, x: torch.cat([x, m.parts(x)], 1), parts=s(
            nn.BatchNorm2d(8 + 4 * i), nn.ReLU(), nn.Conv2d(8 + 4 * i, 4, 3, padding=1, bias=False)))
            for i in range(3)], nn.AvgPool2d(2), head(20)), [image]),
        "shuffle unit": (s(norm_conv(3, 8), Of(shuffle_unit, parts=s(norm_conv(4, 4, 1), norm_conv(4, 4, groups=4))),
                           head(8)), [image]),
        "convnext": (
            s(nn.Conv2d(3, 8, 4, 4),
              Of(next_block, depth=nn.Conv2d(8, 8, 7, padding=3, groups=8), norm=nn.LayerNorm(8, 1e-6),
                     one=nn.Linear(8, 32), two=nn.Linear(32, 8), scale=nn.Parameter(torch.rand(8))), head(8)), [image]),
        "vit": (Of(vision, patches=nn.Conv2d(3, 16, 4, 4), first=nn.Parameter(torch.randn(1, 1, 16)),
                   position=nn.Parameter(torch.randn(1, 17, 16)),
                   layers=nn.TransformerEncoder(transformer(activation="gelu", norm_first=True), 2, nn.LayerNorm(16),
                                                enable_nested_tensor=False),
                   last=nn.Linear(16, 4)), [image]),
        "mixer": (Of(mixer, norm=nn.LayerNorm(8), tokens=s(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)),
                     channels=s(nn.Linear(8, 16), nn.GELU("tanh"), nn.Linear(16, 8))), [(1, 6, 8)]),
        "aspp": (
            Of(lambda m,
               x: m.last(torch.cat([p(x) for p in m.parts] + [F.interpolate(m.pool(x), x.shape[-2:], mode="bilinear")],
                                   1)),
                    parts=nn.ModuleList([nn.Conv2d(3, 4, 3, padding=d, dilation=d) for d in (1, 2, 4)]),
                    pool=s(nn.AdaptiveAvgPool2d(1), nn.Conv2d(3, 4, 1)), last=nn.Conv2d(16, 2, 1)), [image]),
        "pyramid": (Of(pyramid, one=norm_conv(3, 8, 3, 2), two=norm_conv(8, 16, 3, 2), side=nn.Conv2d(8, 8, 1),
                       top=nn.Conv2d(16, 8, 1)), [image]),
        "spatial transformer": (Of(spatial, where=s(nn.Flatten(), nn.Linear(768, 6)), unit=torch.eye(2, 3)), [image]),
        "pixels of bytes": (Of(lambda m, x: m.parts((x.float() / 255 - 0.5) / 0.25),
                               parts=s(norm_conv(3, 4), head(4))), [("u8", 1, 3, 8, 8)]),
        "quantization-aware": (Of(faked, conv=nn.Conv2d(3, 8, 3), dense=nn.Linear(8, 4), steps=torch.rand(8) / 100
                                  + 0.001), [image]),
    }
    sounds = {
        "m5": (s(nn.Conv1d(4, 8, 8, 2), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(8, 8, 3),
                 nn.BatchNorm1d(8), nn.ReLU(),
                 nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 3), nn.LogSoftmax(-1)), [sound]),
        "wavenet": (Of(gated_layers, layers=nn.ModuleList([nn.Conv1d(4, 8, 3, dilation=1 << i) for i in range(3)]),
                       mix=nn.ModuleList([nn.Conv1d(4, 4, 1) for _ in range(3)]), last=nn.Conv1d(4, 2, 1)), [sound]),
        "weight norm": (s(nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 8, 3)), nn.ReLU(), nn.Flatten(),
                          nn.Linear(240, 2)), [sound]),
        "separable 1d": (s(nn.Conv1d(4, 4, 5, padding="same", groups=4), nn.Conv1d(4, 8, 1), nn.GroupNorm(4, 8),
                           nn.SiLU(), nn.AvgPool1d(3, 2)), [sound]),
        "transposed 1d": (s(nn.ConvTranspose1d(4, 4, 4, 2, 1), nn.LeakyReLU(0.1),
                            nn.ConvTranspose1d(4, 2, 5, 3, 2, output_padding=1, groups=2), nn.Tanh()), [sound]),
        "dilated transposed": (nn.ConvTranspose2d(4, 3, 3, 2, 1, dilation=2), [(1, 4, 5, 6)]),
        "convolution and gru": (Of(lambda m, x: m.last(m.gru(m.conv(x).flatten(1, 2).transpose(1, 2))[1][-1]),
                                   conv=s(nn.Conv2d(1, 4, 3, (2, 1), 1), nn.ReLU()),
                                   gru=nn.GRU(20, 8, batch_first=True), last=nn.Linear(8, 3)), [(1, 1, 10, 12)]),
        "spectrum": (Of(spectrum, window=torch.hann_window(32)), [(1, 128)]),
        "rfft": (torch_lambda(lambda x: torch.view_as_real(torch.fft.rfft(x)).square().sum(-1).sqrt()), [(1, 16)]),
    }
    recurrent = {
        "lstm with a state": (Of(lambda m, x, h, c: m.lstm(x, (h, c)), lstm=nn.LSTM(4, 6, batch_first=True)),
                              [(1, 5, 4), (1, 1, 6), (1, 1, 6)]),
        "gru with a state": (Of(lambda m, x, h: m.gru(x, h), gru=nn.GRU(4, 6)), [(5, 1, 4), (1, 1, 6)]),
        "lstm cell": (Of(step_by_step, cell=nn.LSTMCell(4, 6)), [(1, 5, 4)]),
        "gru both ways": (Of(lambda m, x: m.last(m.gru(x)[0].mean(1)),
                             gru=nn.GRU(4, 6, 2, batch_first=True, bidirectional=True), last=nn.Linear(12, 2)),
                             [(1, 5, 4)]),
        "rnn of relu": (Of(lambda m, x: m.rnn(x)[1], rnn=nn.RNN(4, 6, nonlinearity="relu", bidirectional=True)),
                        [(5, 1, 4)]),
        "spiking": (Of(spiking, layer=nn.Linear(4, 6)), [(1, 8, 4)]),
    }
    attention = {
        "encoder, two layers, causal": (Of(lambda m, x: m.layers(x, mask=m.mask, is_causal=True),
                                           mask=nn.Transformer.generate_square_subsequent_mask(6),
                                           layers=nn.TransformerEncoder(transformer(), 2, enable_nested_tensor=False)),
                                           [(1, 6, 16)]),
        "decoder": (Of(lambda m, x, y: m.layer(x, y), layer=nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)),
                    [(1, 5, 16), (1, 7, 16)]),
        "multihead": (Of(lambda m, x, y: m.layer(x, y, y), layer=nn.MultiheadAttention(16, 4, batch_first=True)),
                      [(1, 5, 16), (1, 7, 16)]),
        "rotary, grouped": (Of(llama_block, norm=nn.RMSNorm(16, 1e-6), after=nn.RMSNorm(16, 1e-6), cos=angle.cos(),
                               sin=angle.sin(),
                               **{n: nn.Linear(a, b, bias=False)
                                  for n, a, b in (("q", 16, 16), ("k", 16, 8), ("v", 16, 8), ("o", 16, 16),
                                                  ("gate", 16, 24),
                                                                                ("up", 16, 24), ("down", 24, 16))}),
                                                                                [(1, 5, 16)]),
        "masked": (torch_lambda(lambda x, m: F.scaled_dot_product_attention(x, x, x, attn_mask=m, scale=0.3)),
                   [(1, 2, 6, 8), (1, 1, 6, 6)]),
        "masked by bits": (torch_lambda(lambda x, m: F.scaled_dot_product_attention(x, x, x, attn_mask=m > -1.5)),
                           [(1, 2, 6, 8), (6, 6)]),
        "linear attention": (
            torch_lambda(lambda q, k,
                         v: torch.einsum("bhqd,bhde->bhqe", q.softmax(-1),
                                         torch.einsum("bhkd,bhke->bhde", k.softmax(-2), v))), [(1, 2, 6, 4)] * 3),
        "bag of words": (Of(lambda m, x: m.last(m.bag(x)), bag=nn.EmbeddingBag(40, 8), last=nn.Linear(8, 3)), [words]),
        "words, convolved": (Of(lambda m, x: m.last(F.relu(m.conv(m.table(x).transpose(1, 2))).amax(-1)),
                                table=nn.Embedding(40, 8, padding_idx=0),
                                conv=nn.Conv1d(8, 12, 3), last=nn.Linear(12, 3)), [words]),
    }
    layers = {
        "activations": (torch_lambda(lambda x: torch.cat([f(x) for f in (
            F.elu, F.selu, F.celu, F.glu, F.hardtanh, F.hardshrink, F.softshrink, F.tanhshrink, F.softsign,
            F.logsigmoid, F.mish, F.relu6, F.rrelu, F.softplus,
            F.hardsigmoid, lambda y: F.gelu(y, approximate="tanh"), lambda y: F.softmin(y, -1),
            lambda y: F.threshold(y, 0.1, -2.))], -1)), [rows]),
        "pools": (
            torch_lambda(lambda x: (F.max_pool2d(x, 3, 2, 1, dilation=2),
                                    F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
                                    F.avg_pool2d(x, 3, 2, ceil_mode=True),
                                          F.adaptive_avg_pool2d(x, (4, 2)), F.adaptive_max_pool2d(x, 4),
                                          F.lp_pool2d(x, 2, 2))), [image]),
        "uneven adaptive pool": (nn.AdaptiveAvgPool2d((5, 3)), [image]),
        "indices of a pool": (Of(lambda m, x: m.back(*m.pool(x)), pool=nn.MaxPool2d(2, return_indices=True),
                                 back=nn.MaxUnpool2d(2)), [image]),
        "interpolations": (
            torch_lambda(lambda x: (F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
                                    F.interpolate(x, (7, 5), mode="nearest"),
                                                   F.interpolate(x, scale_factor=1.5, mode="bicubic"),
                                                   F.interpolate(x, scale_factor=2, mode="nearest-exact"),
                                                   F.interpolate(x, (4, 4), mode="area"),
                                                   F.interpolate(x, (5, 5), mode="bilinear", antialias=True))),
                                                   [(1, 2, 8, 8)]),
        "paddings": (
            torch_lambda(
                lambda x: torch.cat(
                    [F.pad(x, (1, 2, 2, 1), mode) for mode in ("reflect", "replicate", "circular", "constant")], 1)),
                    [(1, 2, 5, 6)]),
        "norms": (s(nn.LayerNorm((2, 4, 4)), nn.LocalResponseNorm(2), nn.BatchNorm2d(2), nn.InstanceNorm2d(2),
                    nn.GroupNorm(2, 2)), [(1, 2, 4, 4)]),
        "reductions": (
            torch_lambda(lambda x: (x.var(1), x.std(-1, unbiased=False), x.amax((1, 2)), x.prod(2), x.logsumexp(-1),
                                    x.norm(dim=1), x.norm(1, 2), x.argmax(-1),
                                               x.median(-1).values, x.sort(-1).values, x.min(1), x.cumsum(1), x.any(1),
                                               (x > 0).sum(1), x.mean((0, 2)))), [(1, 4, 5)]),
        "picks": (
            torch_lambda(lambda x,
                         i: (x.gather(1, i % 10), x[:, [0, 3, 3]], x.scatter(1, i % 10, 0.5), x.masked_fill(x > 0, -1),
                             x.roll(3, 1), x.flip(1), x.tril(),
                                             x.repeat_interleave(2, 1), x.unfold(1, 4, 2), torch.where(x > 0, x, -x),
                                             x.take_along_dim(i % 10, 1), F.one_hot(i, 40))), [rows, ("i", 1, 4)]),
        "arithmetic": (
            torch_lambda(lambda x,
                         y: torch.stack([x.sin(), x.cos(), torch.atan2(x, y), x.abs().sqrt(), x ** 3, x.sign(),
                                         x.floor(), x.round(), x % 0.7, torch.fmod(x, 0.7),
                                                              x.erf(), x.abs().rsqrt(), torch.lerp(x, y, 0.3),
                                                              torch.hypot(x, y), x.tan(), x.log1p().nan_to_num(),
                                                              x.expm1(), x.exp2(),
                                                              torch.maximum(x, y), torch.addcmul(x, x, y), x.frac(),
                                                              x.clamp(max=0.3), x.sinh(), x.asinh()])), [rows, rows]),
        "distances": (
            torch_lambda(lambda x, y: (torch.cdist(x, y), F.cosine_similarity(x, y, -1), F.normalize(x, dim=-1),
                                       F.pairwise_distance(x, y))), [(1, 4, 6), (1, 4, 6)]),
        "products": (Of(w=nn.Parameter(torch.randn(6, 6)), both=nn.Bilinear(6, 6, 3), function=lambda m, x,
                        y: (torch.bmm(x, y.transpose(1, 2)), x.matmul(m.w), m.both(x[:, 0], y[:, 0]),
                            torch.einsum("bij,bkj,kj->bik", x, y, y[0]), torch.outer(x[0, 0], y[0, 1]),
                                         torch.baddbmm(x, x, m.w[None]), torch.tensordot(x, y, ([2], [2])))),
                                         [(1, 6, 6), (1, 6, 6)]),
        "folds": (Of(lambda m, x: m.fold(m.unfold(x) * 2), unfold=nn.Unfold(3, padding=1, stride=2),
                     fold=nn.Fold((8, 8), 3, padding=1, stride=2)), [(1, 2, 8, 8)]),
        "pixel shuffles": (s(nn.PixelUnshuffle(2), nn.Conv2d(8, 8, 1), nn.PixelShuffle(2), nn.ZeroPad2d((1, 0, 0, 1)),
                             nn.UpsamplingNearest2d(scale_factor=2)), [(1, 2, 8, 8)]),
        "conv3d and pools": (s(nn.Conv3d(2, 4, 3, (1, 2, 2), 1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2),
                               nn.ConvTranspose3d(4, 2, 2, 2)), [(1, 2, 4, 8, 8)]),
        "shapes": (
            torch_lambda(lambda x: (x.split(2, 1)[1], x.unbind(1)[0], x.view(1, -1).unsqueeze(0).expand(2, 1, -1),
                                    x.movedim(1, 2), x.tile(1, 2, 1), torch.stack([x, x], 1),
                                           x.squeeze(0).t(), torch.arange(x.shape[1]), torch.linspace(0, 1, 5)
                                           + x[0, 0, 0], torch.full_like(x, 3.), x.new_ones(2, 2)[None] * x[:, :1, :1],
                                           torch.meshgrid(x[0, 0], x[0, 1], indexing="ij"))), [(1, 6, 5)]),
        "chosen at run time": (Of(chosen), [rows]),
        "of doubles": (s(nn.Linear(10, 8), nn.Tanh(), nn.Linear(8, 2)).double(), [("f64", 1, 10)]),
    }
    return {**blocks, **sounds, **recurrent, **attention, **layers}
