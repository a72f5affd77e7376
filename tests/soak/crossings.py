# SPDX-License-Identifier: MIT
"""What a graph is crossed with: a target and options of the command line.

`draw(rng, targets)` gives one crossing; `every(rng, targets)` all: each target, with options in rotation, and each
option alone and with another.
"""
LEAST_RAM = "LEAST"          # stands for the least that the compiler names
OPTIONS = {
    "--combine": [None, None, "all", "none"],
    "--optimize": [None, None, "size", "speed"],
    "--io": [None, None, None, "arena"],
    "--weights": [None, None, None, "bin", "section=model_weights"],
    "--ram": [None, None, None, LEAST_RAM],
    "--layers": [None, None, None, True],
    "--standalone": [None, None, True],
    "--static-arena": [None, None, None, True],
    "--float": [None, None, None, "separate"],
    "--no-shrink": [None, None, None, True],
}
EXCLUDE = [("--io", "--static-arena"), ("--ram", "--combine")]


class Crossing:
    def __init__(self, target, options):
        self.target, self.options = target, {k: v for k, v in options.items() if v is not None}
        for one, other in EXCLUDE:
            if one in self.options: self.options.pop(other, None)

    def words(self, least=None):
        words = ["--target", self.target]
        for name, value in self.options.items():
            value = str(least) if value == LEAST_RAM else value
            words += [name] if value is True else [name, value]
        return words

    needs_least = property(lambda c: c.options.get("--ram") == LEAST_RAM)

    def __str__(self):
        return " ".join(self.words(LEAST_RAM))


def draw(rng, targets):
    pick = lambda items: items[int(rng.integers(len(items)))]
    target = "generic" if rng.random() < 0.15 else pick(targets)
    return Crossing(target, {name: pick(values) for name, values in OPTIONS.items()})


def every(rng, targets):
    found = [draw(rng, [t]) if i % 2 else Crossing(t, {}) for i, t in enumerate(targets)]
    single = [(name, v) for name, values in OPTIONS.items() for v in values if v is not None]
    found += [Crossing("generic", {name: v}) for name, v in single]
    found += [Crossing("cortex-m55", dict([one, two])) for one, two in zip(single, single[1:] + single[:1])]
    return found
