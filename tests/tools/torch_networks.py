# SPDX-License-Identifier: MIT
"""Networks of PyTorch for small devices, for exports.py: each by its name, as a module, and the shapes of its
inputs."""
import torch
from torch import nn
from torch.nn import functional as F


def conv(a, b, stride=1, groups=1, kernel=3, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(a, b, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(b),
                         act())


class Residual(nn.Module):
    """Inverted bottleneck with squeeze and excitation, as of MobileNetV3."""
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(conv(c, 2 * c, kernel=1, act=nn.Hardswish),
                                  conv(2 * c, 2 * c, groups=2 * c, act=nn.Hardswish))
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(2 * c, c // 2, 1), nn.ReLU(),
                                  nn.Conv2d(c // 2, 2 * c, 1), nn.Hardsigmoid())
        self.last = nn.Sequential(nn.Conv2d(2 * c, c, 1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x):
        y = self.body(x)
        return x + self.last(y * self.gate(y))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.middle, self.up, self.last = (conv(1, 8), conv(8, 16), nn.ConvTranspose2d(16, 8, 2, 2),
                                                      nn.Conv2d(16, 2, 1))

    def forward(self, x):
        a = self.down(x)
        b = self.up(self.middle(F.max_pool2d(a, 2)))
        return self.last(torch.cat([a, b], 1)).softmax(1)


class Recurrent(nn.Module):
    """The last step of a recurrent layer, through a head."""
    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(8, 12, batch_first=True, **options)
        self.head = nn.Linear(24 if options.get("bidirectional") else 12, 4)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class Causal(nn.Module):
    """A temporal network of dilated causal convolutions."""
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(4, 4, 3, dilation=d) for d in (1, 2, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = x + F.relu(layer(F.pad(x, (2 * layer.dilation[0], 0))))
        return x.mean(-1)


class Words(nn.Module):
    """Embedding, positions, one transformer layer, mean."""
    def __init__(self):
        super().__init__()
        self.embedding, self.position = nn.Embedding(40, 16), nn.Parameter(torch.randn(12, 16))
        self.layer, self.head = (nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu",
                                                            norm_first=True), nn.Linear(16, 3))

    def forward(self, x):
        return self.head(self.layer(self.embedding(x) + self.position).mean(1)).log_softmax(-1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = self.qkv(x).reshape(1, 6, 3, 2, 8).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(1, 6, 16))


class Spectrum(nn.Module):
    """Frames, window, a Fourier transform as a product, log of the bands."""
    def __init__(self):
        super().__init__()
        angle = torch.outer(torch.arange(32.), torch.arange(17.)) * 2 * torch.pi / 32
        self.register_buffer("table", torch.cat([angle.cos(), angle.sin()], 1) * torch.hann_window(32)[:, None])
        self.register_buffer("bands", torch.rand(17, 6))

    def forward(self, x):
        y = x.unfold(-1, 32, 16) @ self.table
        return torch.log((y[..., :17] ** 2 + y[..., 17:] ** 2) @ self.bands + 1e-3)


class Detector(nn.Module):
    """Two heads at different scales; boxes and scores."""
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Sequential(conv(3, 8, 2), conv(8, 16, 2)), conv(16, 16, 2)
        self.heads = nn.ModuleList([nn.Conv2d(16, 10, 1), nn.Conv2d(16, 10, 1)])

    def forward(self, x):
        a = self.first(x)
        maps = [h(y).flatten(2).transpose(1, 2) for h, y in zip(self.heads, (a, self.second(a)))]
        y = torch.cat(maps, 1)
        return y[..., :4], y[..., 4:].sigmoid()


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


def networks():
    """name -> (module, shapes of its float inputs); a shape of ints, as ("i", 1, 12), is of class numbers below 40."""
    s = nn.Sequential
    return {
        "mlp": (s(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)), [(1, 16)]),
        "autoencoder": (s(nn.Linear(32, 8), nn.Tanh(), nn.Linear(8, 32)), [(1, 32)]),
        "cnn": (s(conv(1, 8), nn.MaxPool2d(2), conv(8, 16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4)),
                [(1, 1, 16, 16)]),
        "conv1d": (s(nn.Conv1d(3, 8, 5, stride=2), nn.SiLU(), nn.Flatten(), nn.Linear(8 * 14, 3)), [(1, 3, 32)]),
        "conv3d": (s(nn.Conv3d(1, 4, 3, padding=1), nn.ELU(), nn.AvgPool3d(2)), [(1, 1, 4, 6, 6)]),
        "depthwise": (s(nn.Conv2d(4, 4, 3, groups=4), nn.Hardswish(), nn.Conv2d(4, 8, 1)), [(1, 4, 9, 9)]),
        "mobilenet": (s(conv(3, 8, 2), Residual(8), conv(8, 16, 2), Residual(16), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(16, 5)), [(1, 3, 32, 32)]),
        "shuffle": (s(nn.Conv2d(4, 16, 3, padding=1), nn.PixelShuffle(2), nn.PReLU(4), nn.ChannelShuffle(2)),
                    [(1, 4, 6, 6)]),
        "transpose": (s(nn.ConvTranspose2d(4, 2, 3, stride=2, output_padding=1), nn.Sigmoid()), [(1, 4, 6, 6)]),
        "upsample": (s(nn.Upsample(scale_factor=2, mode="bilinear"),
                       nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), nn.LeakyReLU()), [(1, 2, 5, 5)]),
        "norms": (s(nn.Conv2d(4, 8, 3), nn.GroupNorm(2, 8), nn.Mish(), nn.Conv2d(8, 8, 1),
                    nn.InstanceNorm2d(8, affine=True), nn.Softplus()), [(1, 4, 8, 8)]),
        "unet": (UNet(), [(1, 1, 16, 16)]),
        "lstm": (nn.LSTM(8, 12, batch_first=True), [(1, 10, 8)]),
        "gru": (nn.GRU(8, 12, batch_first=True), [(1, 10, 8)]),
        "rnn": (Recurrent(nn.RNN), [(1, 10, 8)]),
        "lstm two layers both ways": (Recurrent(nn.LSTM, num_layers=2, bidirectional=True), [(1, 10, 8)]),
        "gru two layers": (Recurrent(nn.GRU, num_layers=2), [(1, 10, 8)]),
        "causal": (Causal(), [(1, 4, 20)]),
        "encoder": (nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), [(1, 6, 16)]),
        "words": (Words(), [("i", 1, 12)]),
        "attention": (Attention(), [(1, 6, 16)]),
        "spectrum": (Spectrum(), [(1, 128)]),
        "detector": (Detector(), [(1, 3, 32, 32)]),
        "two inputs": (Lambda(lambda a, b: torch.einsum("bij,bkj->bik", a, b).clamp(-1, 1)), [(1, 4, 8), (1, 5, 8)]),
        "top": (Lambda(lambda a: torch.topk(a.softmax(-1), 3)), [(1, 10)]),
        "index": (Lambda(lambda a: torch.where(a > 0, a.cumsum(-1), a.flip(-1))[:, ::2]), [(1, 10)]),
    }
