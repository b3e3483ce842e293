"""A vision Transformer, written from the README and the stubs of its stage alone; what the slips beside it edit."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import Encoder


def count_patches(height, width, patch_size):
    if patch_size < 1 or height % patch_size or width % patch_size:
        raise ValueError(f"patch_size: {patch_size} has to divide {height} and {width}")
    return height // patch_size, width // patch_size


def patchify(images, patch_size):
    images = np.asarray(images)
    if images.ndim != 4:
        raise ValueError(f"images: shape {images.shape}, expected four axes")
    b, c, h, w = images.shape
    rows, cols = count_patches(h, w, patch_size)
    out = images.reshape(b, c, rows, patch_size, cols, patch_size)
    out = np.transpose(out, (0, 2, 4, 1, 3, 5))
    return out.reshape(b, rows * cols, c * patch_size**2)


def unpatchify(patches, patch_size, image_shape):
    patches = np.asarray(patches)
    c, h, w = image_shape
    rows, cols = count_patches(h, w, patch_size)
    if patches.ndim != 3 or patches.shape[1:] != (rows * cols, c * patch_size**2):
        raise ValueError(f"patches: shape {patches.shape} does not belong to {image_shape}")
    out = patches.reshape(-1, rows, cols, c, patch_size, patch_size)
    out = np.transpose(out, (0, 3, 1, 4, 2, 5))
    return out.reshape(-1, c, h, w)


class PatchEmbedding:
    def __init__(self, channels, patch_size, dim, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.channels = channels
        self.patch_size = patch_size
        self.dim = dim
        fan_in = channels * patch_size**2
        self.params = {
            "weights": rng.standard_normal((fan_in, dim)) / math.sqrt(fan_in),
            "bias": np.zeros(dim),
        }
        self.grads = {}
        self.cache = None

    def forward(self, images):
        images = np.asarray(images)
        if images.ndim != 4 or images.shape[1] != self.channels:
            raise ValueError(f"images: shape {images.shape}, expected {self.channels} channels")
        patches = patchify(images, self.patch_size)
        self.cache = (patches, images.shape)
        return patches @ self.params["weights"] + self.params["bias"]

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("backward: call forward first")
        patches, shape = self.cache
        if grad_output.shape != patches.shape[:2] + (self.dim,):
            raise ValueError(f"grad_output: shape {grad_output.shape}")
        dW = np.zeros_like(self.params["weights"])
        for patch_rows, grad_rows in zip(patches, grad_output):
            dW += patch_rows.T @ grad_rows
        db = grad_output.sum(axis=(0, 1))
        self.grads = {"weights": dW, "bias": db}
        grad_patches = grad_output @ self.params["weights"].T
        return unpatchify(grad_patches, self.patch_size, shape[1:])

    def kernels(self):
        columns = self.params["weights"].T
        return columns.reshape(self.dim, self.channels, self.patch_size, self.patch_size)


def prepend_class_token(tokens, class_token):
    tokens, class_token = np.asarray(tokens), np.asarray(class_token)
    if tokens.ndim != 3 or class_token.shape != tokens.shape[-1:]:
        raise ValueError(f"tokens: shape {tokens.shape}, class_token: shape {class_token.shape}")
    repeated = np.repeat(class_token[None, None], len(tokens), axis=0)
    return np.concatenate((repeated, tokens), axis=1)


def prepend_class_token_backward(grad_output):
    if grad_output.ndim != 3 or grad_output.shape[1] == 0:
        raise ValueError(f"grad_output: shape {grad_output.shape}")
    return grad_output[:, 1:], grad_output[:, 0].sum(axis=0)


def add_positions(tokens, positions):
    tokens, positions = np.asarray(tokens), np.asarray(positions)
    if tokens.ndim != 3 or positions.shape != tokens.shape[1:]:
        raise ValueError(f"tokens: shape {tokens.shape}, positions: shape {positions.shape}")
    return tokens + positions


def add_positions_backward(grad_output):
    if grad_output.ndim != 3:
        raise ValueError(f"grad_output: shape {grad_output.shape}")
    return grad_output, np.sum(grad_output, axis=0)


class ViT:
    def __init__(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        c, h, w = image_shape
        rows, cols = count_patches(h, w, patch_size)
        self.image_shape = (c, h, w)
        self.embedding = PatchEmbedding(c, patch_size, dim, rng)
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, rng=rng)
        self.own = {
            "class_token": rng.normal(0, 0.02, dim),
            "positions": rng.normal(0, 0.02, (rows * cols + 1, dim)),
            "head_weights": rng.normal(0, 1 / math.sqrt(dim), (dim, num_classes)),
            "head_bias": np.zeros(num_classes),
        }
        self.own_grads = {}
        self.features = None

    def together(self, own, embedding, encoder):
        out = dict(own)
        out.update({f"embedding.{key}": value for key, value in embedding.items()})
        out.update({f"encoder.{key}": value for key, value in encoder.items()})
        return out

    @property
    def params(self):
        return self.together(self.own, self.embedding.params, self.encoder.params)

    @property
    def grads(self):
        return self.together(self.own_grads, self.embedding.grads, self.encoder.grads)

    def load(self, params):
        expected = {key: value.shape for key, value in self.params.items()}
        given = {key: np.shape(value) for key, value in params.items()}
        if given != expected:
            raise ValueError("params: a key is missing or unknown, or a shape differs")
        self.own = {key: params[key] for key in self.own}
        self.embedding.params = {key: params[f"embedding.{key}"] for key in ("weights", "bias")}
        for i, block in enumerate(self.encoder.blocks):
            for name in ("norm1", "attention", "norm2", "mlp"):
                layer = getattr(block, name)
                layer.params = {key: params[f"encoder.blocks.{i}.{name}.{key}"] for key in layer.params}
        self.encoder.norm.params = {key: params[f"encoder.norm.{key}"] for key in ("gamma", "beta")}

    def forward(self, images):
        images = np.asarray(images)
        if images.ndim != 4 or images.shape[1:] != self.image_shape:
            raise ValueError(f"images: shape {images.shape}, expected (batch, {self.image_shape})")
        x = self.embedding.forward(images)
        x = prepend_class_token(x, self.own["class_token"])
        x = add_positions(x, self.own["positions"])
        x = self.encoder.forward(x)
        self.features = x
        self.attention_weights = np.stack([block.attention.attention_weights for block in self.encoder.blocks])
        return x[:, 0] @ self.own["head_weights"] + self.own["head_bias"]

    def backward(self, grad_output):
        if self.features is None:
            raise RuntimeError("backward: call forward first")
        if grad_output.shape != (len(self.features), len(self.own["head_bias"])):
            raise ValueError(f"grad_output: shape {grad_output.shape}")
        d_head_weights = self.features[:, 0].T @ grad_output
        d_head_bias = grad_output.sum(axis=0)
        d_features = np.zeros_like(self.features)
        d_features[:, 0] = grad_output @ self.own["head_weights"].T
        d_x = self.encoder.backward(d_features)
        d_x, d_positions = add_positions_backward(d_x)
        d_patches, d_class_token = prepend_class_token_backward(d_x)
        self.own_grads = {
            "class_token": d_class_token,
            "positions": d_positions,
            "head_weights": d_head_weights,
            "head_bias": d_head_bias,
        }
        return self.embedding.backward(d_patches)


def attention_rollout(attention_weights):
    attention_weights = np.asarray(attention_weights)
    if attention_weights.ndim != 5 or len(attention_weights) == 0:
        raise ValueError(f"attention_weights: shape {attention_weights.shape}")
    if attention_weights.shape[3] != attention_weights.shape[4]:
        raise ValueError(f"attention_weights: shape {attention_weights.shape}")
    n = attention_weights.shape[-1]
    rollout = None
    for layer in attention_weights:
        a = np.mean(layer, axis=1)
        a = a + np.eye(n, dtype=a.dtype)
        a = a / np.sum(a, axis=-1, keepdims=True)
        rollout = a if rollout is None else np.matmul(a, rollout)
    return rollout


def class_token_map(rollout, grid_shape):
    rollout = np.asarray(rollout)
    n = grid_shape[0] * grid_shape[1] + 1
    if rollout.ndim != 3 or rollout.shape[1:] != (n, n):
        raise ValueError(f"rollout: shape {rollout.shape}, expected (batch, {n}, {n})")
    row = rollout[:, 0, 1:]
    total = row.sum(axis=1, keepdims=True)
    row = row / np.where(total == 0, 1, total)
    return row.reshape(len(rollout), grid_shape[0], grid_shape[1])
