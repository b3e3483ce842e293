"""Sums over named axes; patches are gathered by a table that says which pixel each of their numbers is."""

import numpy as np

from stages.s17_transformer_blocks.blocks import Encoder


def _expect(is_fine, text):
    if not is_fine:
        raise ValueError(text)


def _table(image_shape, size):
    """Which pixel of a flat image stands at each place of its patches, (num_patches, channels * size**2)."""
    channels, height, width = image_shape
    _expect(size >= 1 and not height % size and not width % size, f"{size} does not divide {height} and {width}")
    row, column, channel, y, x = np.ogrid[: height // size, : width // size, :channels, :size, :size]
    pixel = (channel * height + row * size + y) * width + column * size + x
    return pixel.reshape(-1, channels * size * size)


def patchify(images, patch_size):
    _expect(images.ndim == 4, f"images: {images.ndim} axes, expected 4")
    return images.reshape(len(images), -1)[:, _table(images.shape[1:], patch_size)]


def unpatchify(patches, patch_size, image_shape):
    table = _table(image_shape, patch_size)
    _expect(
        patches.ndim == 3 and patches.shape[1:] == table.shape, f"patches: {patches.shape}, not (batch, {table.shape})"
    )
    flat = np.empty((len(patches), table.size), dtype=patches.dtype)
    flat[:, table.ravel()] = patches.reshape(len(patches), -1)
    return flat.reshape(len(patches), *image_shape)


class PatchEmbedding:
    def __init__(self, channels, patch_size, dim, rng=None):
        rng = rng or np.random.default_rng()
        self.channels, self.patch_size, self.last = channels, patch_size, None
        inputs = channels * patch_size**2
        self.params = {"weights": rng.standard_normal((inputs, dim)) * inputs**-0.5, "bias": np.zeros(dim)}
        self.grads = {}

    def forward(self, images):
        _expect(images.ndim == 4 and images.shape[1] == self.channels, f"images: {images.shape}")
        patches = patchify(images, self.patch_size)
        self.last = images.shape[1:], patches
        return np.einsum("bni,id->bnd", patches, self.params["weights"]) + self.params["bias"]

    def backward(self, grad_output):
        if self.last is None:
            raise RuntimeError("backward before forward")
        image_shape, patches = self.last
        weights = self.params["weights"]
        _expect(grad_output.shape == (*patches.shape[:2], weights.shape[1]), f"grad_output: {grad_output.shape}")
        self.grads = {
            "weights": np.einsum("bni,bnd->id", patches, grad_output),
            "bias": np.einsum("bnd->d", grad_output),
        }
        return unpatchify(np.einsum("bnd,id->bni", grad_output, weights), self.patch_size, image_shape)

    def kernels(self):
        size = self.patch_size
        return np.moveaxis(self.params["weights"].reshape(self.channels, size, size, -1), -1, 0)


def prepend_class_token(tokens, class_token):
    _expect(tokens.ndim == 3 and class_token.shape == tokens.shape[2:], f"{tokens.shape} and {class_token.shape}")
    result = np.empty((tokens.shape[0], 1 + tokens.shape[1], tokens.shape[2]), np.result_type(tokens, class_token))
    result[:, 0], result[:, 1:] = class_token, tokens
    return result


def prepend_class_token_backward(grad_output):
    _expect(grad_output.ndim == 3 and grad_output.shape[1] > 0, f"grad_output: {grad_output.shape}")
    return grad_output[:, 1:], np.einsum("bd->d", grad_output[:, 0])


def add_positions(tokens, positions):
    _expect(tokens.ndim == 3 and positions.shape == tokens.shape[1:], f"{tokens.shape} and {positions.shape}")
    return tokens + positions[None]


def add_positions_backward(grad_output):
    _expect(grad_output.ndim == 3, f"grad_output: {grad_output.shape}")
    return grad_output, np.einsum("bsd->sd", grad_output)


class ViT:
    """Its own parameters live in one dict, and so do the places where those of its parts live."""

    def __init__(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None):
        rng = rng or np.random.default_rng()
        seq = 1 + len(_table(image_shape, patch_size))
        self.image_shape = tuple(image_shape)
        token = rng.standard_normal((1 + seq, dim)) * 0.02
        head = rng.standard_normal((dim, num_classes)) * dim**-0.5
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, rng=rng)
        self.embedding = PatchEmbedding(image_shape[0], patch_size, dim, rng)
        self.own = {"class_token": token[0], "positions": token[1:], "head_weights": head}
        self.own["head_bias"] = np.zeros(num_classes)
        self.own_grads, self.last = {}, None

    @property
    def params(self):
        parts = (("embedding", self.embedding.params), ("encoder", self.encoder.params))
        return self.own | {f"{part}.{name}": value for part, values in parts for name, value in values.items()}

    @property
    def grads(self):
        parts = (("embedding", self.embedding.grads), ("encoder", self.encoder.grads))
        return self.own_grads | {f"{part}.{name}": value for part, values in parts for name, value in values.items()}

    def load(self, params):
        now = self.params
        _expect(params.keys() == now.keys(), f"params: {params.keys() ^ now.keys()}")
        _expect(all(params[name].shape == now[name].shape for name in now), "params: a shape differs")
        self.own = {name: params[name] for name in self.own}
        for path in {name.rpartition(".")[0] for name in params} - {""}:
            part = self
            for step in path.split("."):
                part = part[int(step)] if step.isdecimal() else getattr(part, step)
            part.params = {name: params[f"{path}.{name}"] for name in part.params}

    def forward(self, images):
        _expect(images.ndim == 4 and images.shape[1:] == self.image_shape, f"images: {images.shape}")
        tokens = prepend_class_token(self.embedding.forward(images), self.own["class_token"])
        self.last = self.encoder.forward(add_positions(tokens, self.own["positions"]))
        self.attention_weights = np.stack([block.attention.attention_weights for block in self.encoder.blocks])
        return np.einsum("bd,dc->bc", self.last[:, 0], self.own["head_weights"]) + self.own["head_bias"]

    def backward(self, grad_output):
        if self.last is None:
            raise RuntimeError("backward before forward")
        weights = self.own["head_weights"]
        _expect(grad_output.shape == (len(self.last), weights.shape[1]), f"grad_output: {grad_output.shape}")
        at_class_token = (np.arange(self.last.shape[1]) == 0).astype(grad_output.dtype)
        grad = self.encoder.backward(np.einsum("bc,dc,s->bsd", grad_output, weights, at_class_token))
        self.own_grads = {
            "class_token": np.einsum("bd->d", grad[:, 0]),
            "positions": np.einsum("bsd->sd", grad),
            "head_weights": np.einsum("bd,bc->dc", self.last[:, 0], grad_output),
            "head_bias": np.einsum("bc->c", grad_output),
        }
        return self.embedding.backward(grad[:, 1:])


def attention_rollout(attention_weights):
    shape = attention_weights.shape
    _expect(len(shape) == 5 and shape[0] > 0 and shape[3] == shape[4], f"attention_weights: {shape}")
    mixing = np.einsum("lbhij->lbij", attention_weights) / shape[2] + np.eye(shape[3], dtype=attention_weights.dtype)
    mixing /= np.einsum("lbij->lbi", mixing)[..., None]
    rollout = mixing[-1]
    for matrix in mixing[-2::-1]:  # from the output back to the input
        rollout = np.einsum("bij,bjk->bik", rollout, matrix)
    return rollout


def class_token_map(rollout, grid_shape):
    rows, columns = grid_shape
    _expect(rollout.ndim == 3 and rollout.shape[1:] == (1 + rows * columns,) * 2, f"rollout: {rollout.shape}")
    taken = rollout[:, 0, 1:].reshape(-1, rows, columns)
    total = np.einsum("brc->b", taken)[:, None, None]
    return taken / (total + (total == 0))
