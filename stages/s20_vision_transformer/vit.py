"""A vision Transformer: patches, their embedding, class token and positions, the model, and attention rollout.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
images are (batch, channels, height, width) and sequences (batch, seq, dim); inputs are never changed; every layer has
forward and backward, `params` and `grads`. The encoder is that of stage s17.
"""

import numpy as np

from stages.s17_transformer_blocks.blocks import Encoder


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
    raise NotImplementedError("patchify")


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
    raise NotImplementedError("unpatchify")


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
        raise NotImplementedError("PatchEmbedding.__init__")

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
        raise NotImplementedError("PatchEmbedding.forward")

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
        raise NotImplementedError("PatchEmbedding.backward")

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
        raise NotImplementedError("PatchEmbedding.kernels")


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
    raise NotImplementedError("prepend_class_token")


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
    raise NotImplementedError("prepend_class_token_backward")


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
    raise NotImplementedError("add_positions")


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
    raise NotImplementedError("add_positions_backward")


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
        raise NotImplementedError("ViT.__init__")

    @property
    def params(self):
        """All parameters in one dict, put together at each reading.

        Its keys are "class_token" (dim,), "positions" (1 + num_patches, dim), "head_weights" (dim, num_classes),
        "head_bias" (num_classes,), and those of the parts under dotted names: "embedding.weights", "embedding.bias",
        "encoder.blocks.0.norm1.gamma", ..., "encoder.norm.beta". At first the class token and the positions are
        normally distributed with mean 0 and standard deviation 0.02, the head's weights with 1/sqrt(dim), its bias is
        zero. To replace parameters, use load.
        """
        raise NotImplementedError("ViT.params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        raise NotImplementedError("ViT.grads")

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
        raise NotImplementedError("ViT.load")

    def forward(self, images):
        """Return the logits of every image, shape (batch, num_classes).

        Args:
            images: shape (batch, channels, height, width), with the sizes that the model was made for.

        Returns:
            One number a class, before any softmax. float32 for float32 images and parameters.

        Raises:
            ValueError: images is not (batch, *image_shape).
        """
        raise NotImplementedError("ViT.forward")

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
        raise NotImplementedError("ViT.backward")


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
    raise NotImplementedError("attention_rollout")


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
    raise NotImplementedError("class_token_map")
