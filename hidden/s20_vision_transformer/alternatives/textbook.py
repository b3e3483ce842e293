"""Every step in the README's words and order, each with a name; nothing shared between functions but the functions."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import Encoder


def patchify(images, patch_size):
    if images.ndim != 4:
        raise ValueError(f"images: shape {images.shape}, expected (batch, channels, height, width)")
    batch, channels, height, width = images.shape
    p = patch_size
    if p < 1 or height % p != 0 or width % p != 0:
        raise ValueError(f"patch_size: {p} does not divide height {height} and width {width}")
    rows = height // p
    columns = width // p
    x = images.reshape(batch, channels, rows, p, columns, p)
    x = x.transpose(0, 2, 4, 1, 3, 5)
    patches = x.reshape(batch, rows * columns, channels * p * p)
    return patches


def unpatchify(patches, patch_size, image_shape):
    channels, height, width = image_shape
    p = patch_size
    if p < 1 or height % p != 0 or width % p != 0:
        raise ValueError(f"patch_size: {p} does not divide height {height} and width {width}")
    rows = height // p
    columns = width // p
    if patches.ndim != 3 or patches.shape[1] != rows * columns or patches.shape[2] != channels * p * p:
        raise ValueError(f"patches: shape {patches.shape} does not fit images of {image_shape}")
    batch = patches.shape[0]
    x = patches.reshape(batch, rows, columns, channels, p, p)
    x = x.transpose(0, 3, 1, 4, 2, 5)
    images = x.reshape(batch, channels, height, width)
    return images


class PatchEmbedding:
    def __init__(self, channels, patch_size, dim, rng=None):
        if rng is None:
            rng = np.random.default_rng()
        self.channels = channels
        self.patch_size = patch_size
        num_inputs = channels * patch_size * patch_size
        weights = rng.standard_normal((num_inputs, dim)) / math.sqrt(num_inputs)
        bias = np.zeros(dim)
        self.params = {"weights": weights, "bias": bias}
        self.grads = {}
        self.patches = None

    def forward(self, images):
        if images.ndim != 4 or images.shape[1] != self.channels:
            raise ValueError(f"images: shape {images.shape}, expected {self.channels} channels")
        self.image_shape = images.shape[1:]
        self.patches = patchify(images, self.patch_size)
        weights = self.params["weights"]
        bias = self.params["bias"]
        return self.patches @ weights + bias

    def backward(self, grad_output):
        if self.patches is None:
            raise RuntimeError("call forward before backward")
        weights = self.params["weights"]
        batch, num_patches, num_inputs = self.patches.shape
        dim = weights.shape[1]
        if grad_output.shape != (batch, num_patches, dim):
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {(batch, num_patches, dim)}")
        flat_patches = self.patches.reshape(batch * num_patches, num_inputs)
        flat_grad = grad_output.reshape(batch * num_patches, dim)
        grad_weights = flat_patches.T @ flat_grad
        grad_bias = flat_grad.sum(axis=0)
        self.grads = {"weights": grad_weights, "bias": grad_bias}
        grad_patches = grad_output @ weights.T
        return unpatchify(grad_patches, self.patch_size, self.image_shape)

    def kernels(self):
        weights = self.params["weights"]
        dim = weights.shape[1]
        return weights.T.reshape(dim, self.channels, self.patch_size, self.patch_size)


def prepend_class_token(tokens, class_token):
    if tokens.ndim != 3:
        raise ValueError(f"tokens: shape {tokens.shape}, expected three axes")
    batch, num_patches, dim = tokens.shape
    if class_token.shape != (dim,):
        raise ValueError(f"class_token: shape {class_token.shape}, expected {(dim,)}")
    first = np.tile(class_token, (batch, 1, 1))
    return np.concatenate([first, tokens], axis=1)


def prepend_class_token_backward(grad_output):
    if grad_output.ndim != 3 or grad_output.shape[1] < 1:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected (batch, 1 + num_patches, dim)")
    grad_class_token = grad_output[:, 0].sum(axis=0)
    grad_tokens = grad_output[:, 1:]
    return grad_tokens, grad_class_token


def add_positions(tokens, positions):
    if tokens.ndim != 3:
        raise ValueError(f"tokens: shape {tokens.shape}, expected three axes")
    batch, seq, dim = tokens.shape
    if positions.shape != (seq, dim):
        raise ValueError(f"positions: shape {positions.shape}, expected {(seq, dim)}")
    return tokens + positions


def add_positions_backward(grad_output):
    if grad_output.ndim != 3:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected (batch, seq, dim)")
    grad_tokens = grad_output
    grad_positions = grad_output.sum(axis=0)
    return grad_tokens, grad_positions


class ViT:
    def __init__(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None):
        if rng is None:
            rng = np.random.default_rng()
        channels, height, width = image_shape
        if patch_size < 1 or height % patch_size != 0 or width % patch_size != 0:
            raise ValueError(f"patch_size: {patch_size} does not divide height {height} and width {width}")
        num_patches = (height // patch_size) * (width // patch_size)
        self.image_shape = tuple(image_shape)
        self.embedding = PatchEmbedding(channels, patch_size, dim, rng=rng)
        self.class_token = 0.02 * rng.standard_normal(dim)
        self.positions = 0.02 * rng.standard_normal((1 + num_patches, dim))
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio=mlp_ratio, rng=rng)
        self.head_weights = rng.standard_normal((dim, num_classes)) / math.sqrt(dim)
        self.head_bias = np.zeros(num_classes)
        self.own_grads = {}
        self.features = None

    @property
    def params(self):
        params = {
            "class_token": self.class_token,
            "positions": self.positions,
            "head_weights": self.head_weights,
            "head_bias": self.head_bias,
        }
        for name, value in self.embedding.params.items():
            params["embedding." + name] = value
        for name, value in self.encoder.params.items():
            params["encoder." + name] = value
        return params

    @property
    def grads(self):
        grads = dict(self.own_grads)
        for name, value in self.embedding.grads.items():
            grads["embedding." + name] = value
        for name, value in self.encoder.grads.items():
            grads["encoder." + name] = value
        return grads

    def load(self, params):
        now = self.params
        if set(params) != set(now):
            raise ValueError("params: keys are missing or unknown")
        for name in now:
            if params[name].shape != now[name].shape:
                raise ValueError(f"params: {name} has shape {params[name].shape}, expected {now[name].shape}")
        self.class_token = params["class_token"]
        self.positions = params["positions"]
        self.head_weights = params["head_weights"]
        self.head_bias = params["head_bias"]
        self.embedding.params = {"weights": params["embedding.weights"], "bias": params["embedding.bias"]}
        for i, block in enumerate(self.encoder.blocks):
            for part_name in ["norm1", "attention", "norm2", "mlp"]:
                part = getattr(block, part_name)
                prefix = f"encoder.blocks.{i}.{part_name}."
                part.params = {name: params[prefix + name] for name in part.params}
        self.encoder.norm.params = {"gamma": params["encoder.norm.gamma"], "beta": params["encoder.norm.beta"]}

    def forward(self, images):
        if images.ndim != 4 or images.shape[1:] != self.image_shape:
            raise ValueError(f"images: shape {images.shape}, expected (batch, {self.image_shape})")
        tokens = self.embedding.forward(images)
        tokens = prepend_class_token(tokens, self.class_token)
        tokens = add_positions(tokens, self.positions)
        self.features = self.encoder.forward(tokens)
        self.attention_weights = np.array([block.attention.attention_weights for block in self.encoder.blocks])
        class_features = self.features[:, 0]
        logits = class_features @ self.head_weights + self.head_bias
        return logits

    def backward(self, grad_output):
        if self.features is None:
            raise RuntimeError("call forward before backward")
        batch = self.features.shape[0]
        num_classes = self.head_bias.shape[0]
        if grad_output.shape != (batch, num_classes):
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {(batch, num_classes)}")
        class_features = self.features[:, 0]
        grad_head_weights = class_features.T @ grad_output
        grad_head_bias = grad_output.sum(axis=0)
        grad_features = np.zeros_like(self.features)
        grad_features[:, 0] = grad_output @ self.head_weights.T
        grad_tokens = self.encoder.backward(grad_features)
        grad_tokens, grad_positions = add_positions_backward(grad_tokens)
        grad_tokens, grad_class_token = prepend_class_token_backward(grad_tokens)
        grad_images = self.embedding.backward(grad_tokens)
        self.own_grads = {
            "class_token": grad_class_token,
            "positions": grad_positions,
            "head_weights": grad_head_weights,
            "head_bias": grad_head_bias,
        }
        return grad_images


def attention_rollout(attention_weights):
    if attention_weights.ndim != 5 or attention_weights.shape[0] == 0:
        raise ValueError(f"attention_weights: shape {attention_weights.shape}, expected five axes")
    depth, batch, num_heads, seq, seq_k = attention_weights.shape
    if seq != seq_k:
        raise ValueError(f"attention_weights: {seq} queries and {seq_k} keys, expected as many")
    identity = np.eye(seq, dtype=attention_weights.dtype)
    rollout = identity
    for weights in attention_weights:
        A = weights.mean(axis=1)
        A = A + identity
        A = A / A.sum(axis=-1, keepdims=True)
        rollout = A @ rollout
    return rollout


def class_token_map(rollout, grid_shape):
    rows, columns = grid_shape
    seq = 1 + rows * columns
    if rollout.ndim != 3 or rollout.shape[1:] != (seq, seq):
        raise ValueError(f"rollout: shape {rollout.shape}, expected (batch, {seq}, {seq})")
    batch = rollout.shape[0]
    taken = rollout[:, 0, 1:]
    total = taken.sum(axis=1, keepdims=True)
    shares = taken / np.where(total == 0, 1, total)
    return shares.reshape(batch, rows, columns)
