"""One patch, one image and one token at a time; patches are windows of the image, cut and written back by slices."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import Encoder


def _corners(height, width, size):
    """The upper left corner of every patch, in reading order."""
    if size < 1 or height % size or width % size:
        raise ValueError(f"patches of {size} by {size} pixels do not fit into {height} by {width}")
    return [(top, left) for top in range(0, height, size) for left in range(0, width, size)]


def patchify(images, patch_size):
    images = np.asarray(images)
    if images.ndim != 4:
        raise ValueError(f"images have {images.ndim} axes, not four")
    corners = _corners(*images.shape[2:], patch_size)
    patches = np.zeros((len(images), len(corners), images.shape[1] * patch_size**2), dtype=images.dtype)
    for image, rows in zip(images, patches, strict=True):
        for row, (top, left) in zip(rows, corners, strict=True):
            row[:] = image[:, top : top + patch_size, left : left + patch_size].ravel()
    return patches


def unpatchify(patches, patch_size, image_shape):
    patches = np.asarray(patches)
    channels, height, width = image_shape
    corners = _corners(height, width, patch_size)
    if patches.ndim != 3 or patches.shape[1:] != (len(corners), channels * patch_size**2):
        raise ValueError(f"patches of shape {patches.shape} do not make images of {image_shape}")
    images = np.zeros((len(patches), *image_shape), dtype=patches.dtype)
    for image, rows in zip(images, patches, strict=True):
        for row, (top, left) in zip(rows, corners, strict=True):
            window = row.reshape(channels, patch_size, patch_size)
            image[:, top : top + patch_size, left : left + patch_size] = window
    return images


class PatchEmbedding:
    def __init__(self, channels, patch_size, dim, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        inputs = channels * patch_size**2
        self.channels, self.patch_size = channels, patch_size
        self.params = {"bias": np.zeros(dim), "weights": rng.normal(0.0, 1 / math.sqrt(inputs), size=(inputs, dim))}
        self.grads = {}
        self._memory = None

    def forward(self, images):
        if np.ndim(images) != 4 or images.shape[1] != self.channels:
            raise ValueError(f"images of shape {np.shape(images)}, where {self.channels} channels are expected")
        patches = patchify(images, self.patch_size)
        result = [[row @ self.params["weights"] + self.params["bias"] for row in rows] for rows in patches]
        self._memory = images.shape[1:], patches
        return np.array(result)

    def backward(self, grad_output):
        if self._memory is None:
            raise RuntimeError("nothing has gone forward yet")
        image_shape, patches = self._memory
        weights = self.params["weights"]
        if grad_output.shape != (*patches.shape[:2], weights.shape[1]):
            raise ValueError(f"grad_output has shape {grad_output.shape}")
        grads = {"weights": np.zeros_like(weights), "bias": np.zeros_like(self.params["bias"])}
        grad_patches = np.zeros_like(patches)
        for place in np.ndindex(patches.shape[:2]):
            grads["weights"] += np.outer(patches[place], grad_output[place])
            grads["bias"] += grad_output[place]
            grad_patches[place] = weights @ grad_output[place]
        self.grads = grads
        return unpatchify(grad_patches, self.patch_size, image_shape)

    def kernels(self):
        shape = self.channels, self.patch_size, self.patch_size
        return np.array([column.reshape(shape) for column in self.params["weights"].T])


def prepend_class_token(tokens, class_token):
    if np.ndim(tokens) != 3 or np.shape(class_token) != np.shape(tokens)[2:]:
        raise ValueError(f"tokens {np.shape(tokens)} and class token {np.shape(class_token)} do not fit")
    return np.array([[class_token, *sequence] for sequence in tokens])


def prepend_class_token_backward(grad_output):
    if np.ndim(grad_output) != 3 or grad_output.shape[1] == 0:
        raise ValueError(f"grad_output has shape {np.shape(grad_output)}")
    grad_class_token = np.zeros_like(grad_output[0, 0])
    for sequence in grad_output:
        grad_class_token += sequence[0]
    return np.array([sequence[1:] for sequence in grad_output]), grad_class_token


def add_positions(tokens, positions):
    if np.ndim(tokens) != 3 or np.shape(positions) != np.shape(tokens)[1:]:
        raise ValueError(f"tokens {np.shape(tokens)} and positions {np.shape(positions)} do not fit")
    return np.array([sequence + positions for sequence in tokens])


def add_positions_backward(grad_output):
    if np.ndim(grad_output) != 3:
        raise ValueError(f"grad_output has shape {np.shape(grad_output)}")
    grad_positions = np.zeros_like(grad_output[0])
    for sequence in grad_output:
        grad_positions += sequence
    return np.array(grad_output), grad_positions


class ViT:
    def __init__(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        seq = 1 + len(_corners(*image_shape[1:], patch_size))
        self.image_shape = tuple(image_shape)
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, 0.0, rng)
        self.embedding = PatchEmbedding(image_shape[0], patch_size, dim, rng)
        self.own = {
            "head_weights": rng.normal(0.0, 1 / math.sqrt(dim), size=(dim, num_classes)),
            "head_bias": np.zeros(num_classes),
            "class_token": rng.normal(0.0, 0.02, size=dim),
            "positions": rng.normal(0.0, 0.02, size=(seq, dim)),
        }
        self.own_grads, self._features = {}, None

    def _collect(self, own, which):
        found = dict(own)
        for name in ("embedding", "encoder"):
            for key, value in getattr(getattr(self, name), which).items():
                found[f"{name}.{key}"] = value
        return found

    @property
    def params(self):
        return self._collect(self.own, "params")

    @property
    def grads(self):
        return self._collect(self.own_grads, "grads")

    def load(self, params):
        sizes = {name: value.shape for name, value in self.params.items()}
        if {name: np.shape(value) for name, value in params.items()} != sizes:
            raise ValueError(f"params are not arrays of these shapes: {sizes}")
        leaves = {"": None, "embedding.": self.embedding, "encoder.norm.": self.encoder.norm}
        for number, block in enumerate(self.encoder.blocks):
            for name in ("norm1", "attention", "norm2", "mlp"):
                leaves[f"encoder.blocks.{number}.{name}."] = getattr(block, name)
        for prefix, leaf in leaves.items():
            chosen = self.own if leaf is None else leaf.params
            fresh = {key: params[prefix + key] for key in chosen}
            if leaf is None:
                self.own = fresh
            else:
                leaf.params = fresh

    def forward(self, images):
        if np.shape(images)[1:] != self.image_shape:
            raise ValueError(f"images have shape {np.shape(images)}, each is expected to have {self.image_shape}")
        tokens = prepend_class_token(self.embedding.forward(images), self.own["class_token"])
        self._features = self.encoder.forward(add_positions(tokens, self.own["positions"]))
        self.attention_weights = np.array([block.attention.attention_weights for block in self.encoder.blocks])
        return np.array([sequence[0] @ self.own["head_weights"] + self.own["head_bias"] for sequence in self._features])

    def backward(self, grad_output):
        if self._features is None:
            raise RuntimeError("nothing has gone forward yet")
        features, weights = self._features, self.own["head_weights"]
        if grad_output.shape != (len(features), weights.shape[1]):
            raise ValueError(f"grad_output has shape {grad_output.shape}")
        own = {"head_weights": np.zeros_like(weights), "head_bias": np.zeros_like(self.own["head_bias"])}
        grad_features = np.zeros_like(features)
        for i, grad in enumerate(grad_output):
            own["head_weights"] += np.outer(features[i, 0], grad)
            own["head_bias"] += grad
            grad_features[i, 0] = weights @ grad
        grad, own["positions"] = add_positions_backward(self.encoder.backward(grad_features))
        grad, own["class_token"] = prepend_class_token_backward(grad)
        self.own_grads = own
        return self.embedding.backward(grad)


def attention_rollout(attention_weights):
    shape = np.shape(attention_weights)
    if len(shape) != 5 or not shape[0] or shape[3] != shape[4]:
        raise ValueError(f"attention_weights have shape {shape}")
    found = []
    for image in range(shape[1]):
        flow = np.eye(shape[3], dtype=attention_weights.dtype)
        for block in attention_weights[:, image]:
            mixed = sum(block) / len(block)
            step = np.zeros_like(mixed)
            for i, row in enumerate(mixed):
                step[i] = row
                step[i, i] += 1
                step[i] /= step[i].sum()
            flow = step @ flow
        found.append(flow)
    return np.array(found)


def class_token_map(rollout, grid_shape):
    rows, columns = grid_shape
    if np.ndim(rollout) != 3 or rollout.shape[1:] != (1 + rows * columns,) * 2:
        raise ValueError(f"rollout of shape {np.shape(rollout)} is not one of {rows} by {columns} patches")
    maps = np.zeros((len(rollout), rows, columns), rollout.dtype)
    for grid, flow in zip(maps, rollout, strict=True):
        if flow[0, 1:].any():
            grid[:] = (flow[0, 1:] / sum(flow[0, 1:])).reshape(rows, columns)
    return maps
