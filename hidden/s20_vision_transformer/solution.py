"""A vision Transformer: patches, their embedding, class token and positions, the model, and attention rollout.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
images are (batch, channels, height, width) and sequences (batch, seq, dim); inputs are never changed; every layer has
forward and backward, `params` and `grads`. The encoder is that of stage s17.
"""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import Encoder

_BLOCK_PARTS = ("norm1", "attention", "norm2", "mlp")
_SMALL = 0.02  # standard deviation of a new class token and of new positions


def patchify(images, patch_size):
    """Cut images into square patches, and return each patch as a row of numbers.

    Args:
        images: shape (batch, channels, height, width).
        patch_size: rows and columns of a patch; must divide height and width.

    Returns:
        Shape (batch, num_patches, channels * patch_size**2). Patches come in reading order: from left to right, the top
        row of patches first. The numbers of a patch come channel by channel, and within a channel in reading order.

    Raises:
        ValueError: images have not four axes, or patch_size is below 1 or does not divide height and width.

    Source: Dosovitskiy et al. 2020, section 3.1.

    Example:
        >>> patchify(np.arange(16).reshape(1, 1, 4, 4), 2)
        array([[[ 0,  1,  4,  5],
                [ 2,  3,  6,  7],
                [ 8,  9, 12, 13],
                [10, 11, 14, 15]]])
    """
    if images.ndim != 4:
        raise ValueError(f"images: shape {images.shape}, expected (batch, channels, height, width)")
    batch, channels, height, width = images.shape
    rows, columns = _grid(height, width, patch_size)
    split = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    return split.transpose(0, 2, 4, 1, 3, 5).reshape(batch, rows * columns, channels * patch_size**2)


def unpatchify(patches, patch_size, image_shape):
    """Put patches together to images again: the inverse of patchify.

    Args:
        patches: shape (batch, num_patches, channels * patch_size**2), as patchify returns them.
        patch_size: rows and columns of a patch; must divide height and width.
        image_shape: (channels, height, width) of the images.

    Returns:
        Shape (batch, channels, height, width).

    Raises:
        ValueError: patch_size is below 1 or does not divide height and width, or patches have another shape than
            patches of such images.

    Example:
        >>> unpatchify(np.arange(8).reshape(1, 2, 4), 2, (1, 2, 4))
        array([[[[0, 1, 4, 5],
                 [2, 3, 6, 7]]]])
    """
    channels, height, width = image_shape
    rows, columns = _grid(height, width, patch_size)
    expected = (rows * columns, channels * patch_size**2)
    if patches.shape[1:] != expected:
        raise ValueError(f"patches: shape {patches.shape}, expected (batch, {expected[0]}, {expected[1]})")
    split = patches.reshape(len(patches), rows, columns, channels, patch_size, patch_size)
    return split.transpose(0, 3, 1, 4, 2, 5).reshape(len(patches), channels, height, width)


class PatchEmbedding:
    """Projects every patch of an image to dim features, all with the same weights: patchify(images) W + b.

    Args:
        channels: channels of the images.
        patch_size: rows and columns of a patch.
        dim: number of features of each patch.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        params: dict of "weights" (channels * patch_size**2, dim) and "bias" (dim,). At first the weights are normally
            distributed with mean 0 and standard deviation 1/sqrt(number of inputs), the bias zero. forward reads the
            dict at each call, so it may be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.

    Source: Dosovitskiy et al. 2020, equation 1.

    Example:
        >>> embedding = PatchEmbedding(1, 2, 1)
        >>> embedding.params = {"weights": np.array([[1.0], [0.0], [0.0], [10.0]]), "bias": np.array([0.5])}
        >>> embedding.forward(np.arange(16.0).reshape(1, 1, 4, 4)).ravel().tolist()
        [50.5, 72.5, 138.5, 160.5]
    """

    def __init__(self, channels, patch_size, dim, rng=None):
        inputs = channels * patch_size**2
        self._channels = channels
        self._patch_size = patch_size
        self.params = {"weights": _initial_weights(_generator(rng), inputs, dim), "bias": np.zeros(dim)}
        self.grads = {}
        self._cache = None

    def forward(self, images):
        """Return the features of every patch, shape (batch, num_patches, dim).

        Args:
            images: shape (batch, channels, height, width); patch_size must divide height and width.

        Returns:
            Patches in the order of patchify. float32 for float32 images and parameters.

        Raises:
            ValueError: images have not four axes or another number of channels, or patch_size does not divide height
                and width.
        """
        if images.ndim != 4 or images.shape[1] != self._channels:
            raise ValueError(f"images: shape {images.shape}, expected (batch, {self._channels}, height, width)")
        patches = patchify(images, self._patch_size)
        output = patches @ self.params["weights"] + self.params["bias"]
        self._cache = images.shape, patches, output.shape
        return output

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's images; put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, num_patches, dim).

        Returns:
            Shape (batch, channels, height, width). grads is replaced, not added to.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        image_shape, patches, shape = _last_forward(self._cache)
        grad_output = _of_shape(grad_output, shape)
        self.grads = {
            "weights": np.tensordot(patches, grad_output, ((0, 1), (0, 1))),
            "bias": grad_output.sum(axis=(0, 1)),
        }
        return unpatchify(grad_output @ self.params["weights"].T, self._patch_size, image_shape[1:])

    def kernels(self):
        """Return the weights as the kernels of a convolution, shape (dim, channels, patch_size, patch_size).

        The convolution of deep learning (of s13, with kernels that are not turned over) of an image with these kernels,
        stride patch_size, no padding and this layer's bias gives what forward gives: its place [row, column] is the
        patch in that row and column.

        Example:
            >>> embedding = PatchEmbedding(1, 2, 1)
            >>> embedding.params = {"weights": np.array([[1.0], [2.0], [3.0], [4.0]]), "bias": np.zeros(1)}
            >>> embedding.kernels()
            array([[[[1., 2.],
                     [3., 4.]]]])
        """
        weights = self.params["weights"]
        return weights.T.reshape(weights.shape[1], self._channels, self._patch_size, self._patch_size)


def prepend_class_token(tokens, class_token):
    """Put one more token in front of every sequence, the same in all of them.

    Args:
        tokens: shape (batch, num_patches, dim).
        class_token: shape (dim,).

    Returns:
        Shape (batch, 1 + num_patches, dim): the class token, then the tokens. float32 where both are.

    Raises:
        ValueError: tokens have not three axes, or class_token is not (dim,).

    Source: Dosovitskiy et al. 2020, equation 1; Devlin et al. 2018.

    Example:
        >>> prepend_class_token(np.array([[[1.0, 2.0], [3.0, 4.0]]]), np.array([9.0, 8.0]))
        array([[[9., 8.],
                [1., 2.],
                [3., 4.]]])
    """
    if tokens.ndim != 3:
        raise ValueError(f"tokens: shape {tokens.shape}, expected (batch, num_patches, dim)")
    if class_token.shape != tokens.shape[2:]:
        raise ValueError(f"class_token: shape {class_token.shape}, expected {tokens.shape[2:]}")
    first = np.broadcast_to(class_token, (len(tokens), 1, len(class_token)))
    return np.concatenate([first, tokens], axis=1)


def prepend_class_token_backward(grad_output):
    """Return the gradients of prepend_class_token with respect to tokens and class_token.

    Args:
        grad_output: gradient of the loss with respect to its output, shape (batch, 1 + num_patches, dim).

    Returns:
        (grad_tokens, grad_class_token), of shapes (batch, num_patches, dim) and (dim,).

    Raises:
        ValueError: grad_output has not three axes, or no token at all.

    Example:
        >>> grad_tokens, grad_class_token = prepend_class_token_backward(np.array([[[1.0], [2.0]], [[3.0], [4.0]]]))
        >>> grad_tokens.ravel().tolist(), grad_class_token.tolist()
        ([2.0, 4.0], [4.0])
    """
    if grad_output.ndim != 3 or grad_output.shape[1] == 0:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected (batch, 1 + num_patches, dim)")
    return grad_output[:, 1:], grad_output[:, 0].sum(axis=0)


def add_positions(tokens, positions):
    """Add to every token the learned vector of its place, the same in every sequence.

    Args:
        tokens: shape (batch, seq, dim).
        positions: shape (seq, dim).

    Returns:
        Shape (batch, seq, dim). float32 where both are.

    Raises:
        ValueError: tokens have not three axes, or positions is not (seq, dim).

    Example:
        >>> add_positions(np.ones((1, 2, 2)), np.array([[0.0, 10.0], [20.0, 30.0]]))
        array([[[ 1., 11.],
                [21., 31.]]])
    """
    if tokens.ndim != 3:
        raise ValueError(f"tokens: shape {tokens.shape}, expected (batch, seq, dim)")
    if positions.shape != tokens.shape[1:]:
        raise ValueError(f"positions: shape {positions.shape}, expected {tokens.shape[1:]}")
    return tokens + positions


def add_positions_backward(grad_output):
    """Return the gradients of add_positions with respect to tokens and positions.

    Args:
        grad_output: gradient of the loss with respect to its output, shape (batch, seq, dim).

    Returns:
        (grad_tokens, grad_positions), of shapes (batch, seq, dim) and (seq, dim).

    Raises:
        ValueError: grad_output has not three axes.

    Example:
        >>> grad_tokens, grad_positions = add_positions_backward(np.array([[[1.0], [2.0]], [[3.0], [4.0]]]))
        >>> grad_tokens.ravel().tolist(), grad_positions.ravel().tolist()
        ([1.0, 2.0, 3.0, 4.0], [4.0, 6.0])
    """
    if grad_output.ndim != 3:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected (batch, seq, dim)")
    return grad_output, grad_output.sum(axis=0)


class ViT:
    """A vision Transformer: patch embedding, class token, positions, s17's Encoder, and a linear head.

    The head sees the class token's features only, after the encoder's last normalisation: logits =
    features[:, 0] head_weights + head_bias. There is no dropout.

    Args:
        image_shape: (channels, height, width) of the images.
        patch_size: rows and columns of a patch; must divide height and width.
        num_classes: number of logits.
        dim, depth, num_heads, mlp_ratio: those of the Encoder.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        embedding: PatchEmbedding(channels, patch_size, dim).
        encoder: Encoder(depth, dim, num_heads, mlp_ratio) of stage s17.
        attention_weights: after forward, the weights of that call, shape (depth, batch, num_heads, seq, seq) with seq =
            1 + num_patches; the first entry is that of the first block.

    Raises:
        ValueError: patch_size is below 1 or does not divide height and width, or what Encoder refuses.

    Source: Dosovitskiy et al. 2020, section 3.1.

    Example:
        >>> vit = ViT((1, 8, 8), 4, 10, 16, 2, 4, rng=np.random.default_rng(0))
        >>> vit.forward(np.ones((3, 1, 8, 8))).shape, vit.attention_weights.shape
        ((3, 10), (2, 3, 4, 5, 5))
        >>> vit.params["positions"].shape, "encoder.blocks.1.mlp.W1" in vit.params
        ((5, 16), True)
    """

    def __init__(self, image_shape, patch_size, num_classes, dim, depth, num_heads, mlp_ratio=4.0, rng=None):
        rng = _generator(rng)
        channels, height, width = image_shape
        rows, columns = _grid(height, width, patch_size)
        self._image_shape = tuple(image_shape)
        self.embedding = PatchEmbedding(channels, patch_size, dim, rng)
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, rng=rng)
        self._params = {
            "class_token": _SMALL * rng.standard_normal(dim),
            "positions": _SMALL * rng.standard_normal((1 + rows * columns, dim)),
            "head_weights": _initial_weights(rng, dim, num_classes),
            "head_bias": np.zeros(num_classes),
        }
        self._grads = {}
        self._cache = None

    @property
    def params(self):
        """All parameters in one dict, put together at each reading.

        Its keys are "class_token" (dim,), "positions" (1 + num_patches, dim), "head_weights" (dim, num_classes),
        "head_bias" (num_classes,), and those of the parts under dotted names: "embedding.weights", "embedding.bias",
        "encoder.blocks.0.norm1.gamma", ..., "encoder.norm.beta". At first the class token and the positions are
        normally distributed with mean 0 and standard deviation 0.02, the head's weights with 1/sqrt(dim), its bias is
        zero. To replace parameters, use load.
        """
        return {
            **self._params,
            **_dotted("embedding", self.embedding.params),
            **_dotted("encoder", self.encoder.params),
        }

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        return {**self._grads, **_dotted("embedding", self.embedding.grads), **_dotted("encoder", self.encoder.grads)}

    def load(self, params):
        """Replace all parameters.

        Args:
            params: dict with exactly the keys of self.params, each with an array of that parameter's shape.

        Raises:
            ValueError: a key is missing or unknown, or an array has another shape. Nothing is replaced then.

        Example:
            >>> vit = ViT((1, 2, 2), 2, 2, 4, 1, 1)
            >>> vit.load({**vit.params, "head_bias": np.array([1.0, 2.0])})
            >>> vit.encoder.norm.params["gamma"].tolist(), vit.params["head_bias"].tolist()
            ([1.0, 1.0, 1.0, 1.0], [1.0, 2.0])
        """
        now = self.params
        if set(params) != set(now):
            raise ValueError(f"params: keys {sorted(set(params) ^ set(now))} are missing or unknown")
        for name, value in params.items():
            if np.shape(value) != now[name].shape:
                raise ValueError(f"params: {name} has shape {np.shape(value)}, expected {now[name].shape}")
        self._params = {name: params[name] for name in self._params}
        for name, part in _parts(self).items():
            part.params = {key: params[f"{name}.{key}"] for key in part.params}

    def forward(self, images):
        """Return the logits of every image, shape (batch, num_classes).

        Args:
            images: shape (batch, channels, height, width), with the sizes that the model was made for.

        Returns:
            One number a class, before any softmax. float32 for float32 images and parameters.

        Raises:
            ValueError: images is not (batch, *image_shape).
        """
        if images.shape[1:] != self._image_shape:
            raise ValueError(f"images: shape {images.shape}, expected (batch, *{self._image_shape})")
        tokens = prepend_class_token(self.embedding.forward(images), self._params["class_token"])
        features = self.encoder.forward(add_positions(tokens, self._params["positions"]))
        self.attention_weights = np.stack([block.attention.attention_weights for block in self.encoder.blocks])
        self._cache = features
        return features[:, 0] @ self._params["head_weights"] + self._params["head_bias"]

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's images; put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last logits, shape (batch, num_classes).

        Returns:
            Shape (batch, channels, height, width). grads is replaced, not added to.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last logits.
        """
        features = _last_forward(self._cache)
        grad_output = _of_shape(grad_output, (len(features), len(self._params["head_bias"])))
        grad_features = np.zeros_like(features)
        grad_features[:, 0] = grad_output @ self._params["head_weights"].T
        grad_tokens, grad_positions = add_positions_backward(self.encoder.backward(grad_features))
        grad_tokens, grad_class_token = prepend_class_token_backward(grad_tokens)
        self._grads = {
            "class_token": grad_class_token,
            "positions": grad_positions,
            "head_weights": features[:, 0].T @ grad_output,
            "head_bias": grad_output.sum(axis=0),
        }
        return self.embedding.backward(grad_tokens)


def attention_rollout(attention_weights):
    """Return how much of every input token is in every output token, through all blocks.

    In each block the heads are averaged, the identity is added for the residual connection, and every row is divided by
    its sum; the matrices of the blocks are multiplied, each block's from the left: rollout = A_depth ... A_2 A_1.

    Args:
        attention_weights: shape (depth, batch, num_heads, seq, seq), the first block first; no weight is negative.

    Returns:
        Shape (batch, seq, seq). Row i says how output token i is made of the input tokens; it sums to 1. float32 for
        float32 weights.

    Raises:
        ValueError: attention_weights has not five axes, the last two not equal, or holds no block.

    Source: Abnar and Zuidema 2020, section 3.

    Example:
        >>> attention_rollout(np.array([[[[[0.5, 0.5], [0.0, 1.0]]]], [[[[1.0, 0.0], [0.5, 0.5]]]]]))
        array([[[0.75  , 0.25  ],
                [0.1875, 0.8125]]])
    """
    shape = np.shape(attention_weights)
    if len(shape) != 5 or shape[-1] != shape[-2] or shape[0] == 0:
        raise ValueError(f"attention_weights: shape {shape}, expected (depth, batch, num_heads, seq, seq)")
    mixing = attention_weights.mean(axis=2) + np.eye(shape[-1], dtype=attention_weights.dtype)
    mixing = mixing / mixing.sum(axis=-1, keepdims=True)
    rollout = mixing[0]
    for matrix in mixing[1:]:
        rollout = matrix @ rollout
    return rollout


def class_token_map(rollout, grid_shape):
    """Return what the class token took from every patch, as an image of patches.

    Args:
        rollout: shape (batch, 1 + num_patches, 1 + num_patches), as attention_rollout returns it.
        grid_shape: (rows, columns) of patches.

    Returns:
        Shape (batch, rows, columns): the class token's row without its share of itself, divided by the sum of what is
        left, so that every map sums to 1. Where the class token took nothing, as in an identity, its map is 0.

    Raises:
        ValueError: rollout is not (batch, 1 + rows * columns, 1 + rows * columns).

    Example:
        >>> rollout = np.array([[[0.5, 0.1, 0.4], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
        >>> class_token_map(rollout, (1, 2))
        array([[[0.2, 0.8]]])
    """
    rows, columns = grid_shape
    seq = 1 + rows * columns
    if rollout.shape[1:] != (seq, seq):
        raise ValueError(f"rollout: shape {rollout.shape}, expected (batch, {seq}, {seq})")
    taken = rollout[:, 0, 1:]
    total = taken.sum(axis=-1, keepdims=True)
    return (taken / np.where(total == 0, 1, total)).reshape(len(taken), rows, columns)


def _grid(height, width, patch_size):
    """How many rows and columns of patches there are."""
    if patch_size < 1 or height % patch_size or width % patch_size:
        raise ValueError(f"patch_size: {patch_size}, expected a divisor of height {height} and width {width}")
    return height // patch_size, width // patch_size


def _parts(vit):
    """Every layer that has params of its own to replace, by dotted name."""
    parts = {"embedding": vit.embedding, "encoder.norm": vit.encoder.norm}
    for i, block in enumerate(vit.encoder.blocks):
        parts.update({f"encoder.blocks.{i}.{name}": getattr(block, name) for name in _BLOCK_PARTS})
    return parts


def _dotted(name, values):
    return {f"{name}.{key}": value for key, value in values.items()}


def _generator(rng):
    return np.random.default_rng() if rng is None else rng


def _initial_weights(rng, num_inputs, num_outputs):
    """Weights of standard deviation 1/sqrt(num_inputs), so that a projection keeps the variance of its input."""
    return rng.standard_normal((num_inputs, num_outputs)) / math.sqrt(num_inputs)


def _last_forward(cache):
    if cache is None:
        raise RuntimeError("backward: forward has not been called, expected one forward call before it")
    return cache


def _of_shape(grad_output, shape):
    if grad_output.shape != shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {shape}, that of the last output")
    return grad_output
