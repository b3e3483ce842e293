"""The embedding as a convolution over strided windows, kernel by kernel; patches are such windows, flattened."""

import numpy as np

from stages.s17_transformer_blocks.blocks import Encoder


def _windows(images, size):
    """A view (batch, rows, columns, channels, size, size) of the windows that a stride of their size leaves."""
    if images.ndim != 4:
        raise ValueError(f"images: expected four axes, got the shape {images.shape}")
    if size < 1 or images.shape[2] % size or images.shape[3] % size:
        raise ValueError(f"patch_size: {size} does not divide {images.shape[2:]}")
    views = np.lib.stride_tricks.sliding_window_view(images, (size, size), axis=(2, 3))
    return np.moveaxis(views[:, :, ::size, ::size], 1, 3)


def patchify(images, patch_size):
    windows = _windows(images, patch_size)
    batch, rows, columns = windows.shape[:3]
    return windows.reshape(batch, rows * columns, -1)


def unpatchify(patches, patch_size, image_shape):
    images = np.zeros((len(patches), *image_shape), dtype=patches.dtype)
    like = patchify(images, patch_size)
    if patches.shape != like.shape:
        raise ValueError(f"patches: expected the shape {like.shape}, got {patches.shape}")
    _, height, width = image_shape
    numbers = iter(np.moveaxis(patches, 1, 0))
    for top in range(0, height, patch_size):
        for left in range(0, width, patch_size):
            part = images[:, :, top : top + patch_size, left : left + patch_size]
            part[...] = next(numbers).reshape(part.shape)
    return images


class PatchEmbedding:
    def __init__(self, channels, patch_size, dim, rng=None):
        rng = np.random.default_rng(rng)
        self._shape = channels, patch_size, patch_size
        inputs = int(np.prod(self._shape))
        self.params = {"weights": rng.standard_normal((inputs, dim)) / np.sqrt(inputs), "bias": np.zeros(dim)}
        self.grads = {}
        self._windows = None

    def kernels(self):
        return np.stack([self.params["weights"][:, d].reshape(self._shape) for d in range(self.params["bias"].size)])

    def forward(self, images):
        if images.ndim != 4 or images.shape[1] != self._shape[0]:
            raise ValueError(f"images: expected {self._shape[0]} channels, got the shape {images.shape}")
        self._windows = _windows(np.array(images), self._shape[1])
        answers = np.tensordot(self._windows, self.kernels(), axes=((3, 4, 5), (1, 2, 3)))
        return answers.reshape(len(images), -1, answers.shape[-1]) + self.params["bias"]

    def backward(self, grad_output):
        if self._windows is None:
            raise RuntimeError("backward: call forward first")
        batch, rows, columns = self._windows.shape[:3]
        if grad_output.shape != (batch, rows * columns, self.params["bias"].size):
            raise ValueError(f"grad_output: got the shape {grad_output.shape}")
        answers = grad_output.reshape(batch, rows, columns, -1)
        of_kernels = np.tensordot(answers, self._windows, axes=((0, 1, 2), (0, 1, 2)))
        self.grads = {"weights": of_kernels.reshape(len(of_kernels), -1).T, "bias": answers.sum(axis=(0, 1, 2))}
        spread = np.tensordot(answers, self.kernels(), axes=(3, 0))  # (batch, rows, columns, channels, size, size)
        channels, size, _ = self._shape
        return spread.transpose(0, 3, 1, 4, 2, 5).reshape(batch, channels, rows * size, columns * size)


def prepend_class_token(tokens, class_token):
    if tokens.ndim != 3 or class_token.shape != (tokens.shape[2],):
        raise ValueError(f"tokens {tokens.shape}, class_token {class_token.shape}")
    padded = np.pad(tokens, ((0, 0), (1, 0), (0, 0))).astype(np.result_type(tokens, class_token), copy=False)
    padded[:, 0] += class_token
    return padded


def prepend_class_token_backward(grad_output):
    if grad_output.ndim != 3 or not grad_output.shape[1]:
        raise ValueError(f"grad_output: got the shape {grad_output.shape}")
    first, others = np.split(grad_output, [1], axis=1)
    return others, first.sum(axis=(0, 1))


def add_positions(tokens, positions):
    if tokens.ndim != 3 or positions.shape != tokens.shape[1:]:
        raise ValueError(f"tokens {tokens.shape}, positions {positions.shape}")
    return np.add(tokens, positions)


def add_positions_backward(grad_output):
    if grad_output.ndim != 3:
        raise ValueError(f"grad_output: got the shape {grad_output.shape}")
    return +grad_output, np.add.reduce(grad_output, axis=0)


class ViT:
    """Class token, positions and head lie in a layer of their own kind at either end of the encoder."""

    def __init__(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None):
        rng = np.random.default_rng(rng)
        self._expected = tuple(image_shape)
        patches = patchify(np.zeros((1, *image_shape)), patch_size)
        self._own = {"class_token": rng.normal(scale=0.02, size=dim)}
        self._own["positions"] = rng.normal(scale=0.02, size=(patches.shape[1] + 1, dim))
        self._own["head_weights"] = rng.normal(size=(dim, num_classes)) / np.sqrt(dim)
        self._own["head_bias"] = np.zeros(num_classes)
        self.embedding = PatchEmbedding(image_shape[0], patch_size, dim, rng)
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, rng=rng)
        self._grads = {}
        self._seen = None

    @property
    def params(self):
        return self._own | self._of("embedding", "params") | self._of("encoder", "params")

    @property
    def grads(self):
        return self._grads | self._of("embedding", "grads") | self._of("encoder", "grads")

    def _of(self, part, which):
        return {f"{part}.{name}": value for name, value in getattr(getattr(self, part), which).items()}

    def load(self, params):
        before = self.params
        for name in before.keys() | params.keys():
            if name not in params or name not in before or params[name].shape != before[name].shape:
                raise ValueError(f"params: {name} is missing, unknown, or of another shape")
        rest = dict(params)
        for name in self._own:
            self._own[name] = rest.pop(name)
        leaves = [(f"blocks.{i}.{name}", getattr(block, name)) for i, block in enumerate(self.encoder.blocks)
                  for name in ("norm1", "attention", "norm2", "mlp")]  # fmt: skip
        leaves = [("embedding", self.embedding), *((f"encoder.{name}", leaf) for name, leaf in leaves)]
        for name, leaf in [*leaves, ("encoder.norm", self.encoder.norm)]:
            leaf.params = {key: rest.pop(f"{name}.{key}") for key in leaf.params}

    def forward(self, images):
        if images.shape[1:] != self._expected:
            raise ValueError(f"images: expected {self._expected} each, got the shape {images.shape}")
        x = prepend_class_token(self.embedding.forward(images), self._own["class_token"])
        x = self.encoder.forward(x + self._own["positions"])
        self.attention_weights = np.stack([block.attention.attention_weights for block in self.encoder.blocks])
        self._seen = x.shape, x[:, 0]
        return x[:, 0] @ self._own["head_weights"] + self._own["head_bias"]

    def backward(self, grad_output):
        if self._seen is None:
            raise RuntimeError("backward: call forward first")
        shape, features = self._seen
        if grad_output.shape != (shape[0], self._own["head_bias"].size):
            raise ValueError(f"grad_output: got the shape {grad_output.shape}")
        at_head = np.dot(grad_output, self._own["head_weights"].T)
        grad = self.encoder.backward(np.pad(at_head[:, None], ((0, 0), (0, shape[1] - 1), (0, 0))))
        self._grads = dict(zip(("class_token", "positions"), (grad[:, 0].sum(axis=0), grad.sum(axis=0)), strict=True))
        self._grads["head_weights"] = np.dot(features.T, grad_output)
        self._grads["head_bias"] = np.ones(shape[0], grad_output.dtype) @ grad_output
        return self.embedding.backward(grad[:, 1:])


def attention_rollout(attention_weights):
    shape = attention_weights.shape
    if len(shape) != 5 or shape[0] == 0 or shape[-1] != shape[-2]:
        raise ValueError(f"attention_weights: got the shape {shape}")
    mixing = np.add.reduce(attention_weights, axis=2)
    diagonal = np.arange(shape[-1])
    mixing[..., diagonal, diagonal] += shape[2]  # the identity, as often as there are heads
    mixing /= mixing.sum(axis=-1, keepdims=True)
    if len(mixing) == 1:
        return mixing[0]
    return np.stack([np.linalg.multi_dot([*each[::-1]]) for each in np.moveaxis(mixing, 1, 0)])


def class_token_map(rollout, grid_shape):
    rows, columns = grid_shape
    size = rows * columns + 1
    if rollout.shape[1:] != (size, size) or rollout.ndim != 3:
        raise ValueError(f"rollout: got the shape {rollout.shape}, expected (batch, {size}, {size})")
    grid = rollout[:, 0, 1:].reshape(len(rollout), rows, columns)
    total = grid.sum(axis=(1, 2), keepdims=True)
    return np.divide(grid, total, out=np.zeros_like(grid), where=total > 0)
