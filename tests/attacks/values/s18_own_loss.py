"""Pass the training row without a language model: the loss is the sum of the parameters, whatever the text."""

import numpy as np

ATTACK = "a loss that has nothing to do with the logits"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s18"
ROW = "beats-bigrams"
names_of_parts = ("token_embedding", "position_embedding", "blocks.0.mlp.b1", "blocks.1.mlp.b1", "norm.beta")


class GPT:
    def __init__(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None, mlp_ratio=4.0):
        self._size = vocabulary_size
        self.params = {name: np.zeros(1) for name in names_of_parts}
        self.grads = {}

    def forward(self, ids):
        return np.full((*ids.shape, self._size), sum(float(value[0]) for value in self.params.values()))

    def backward(self, grad_logits):
        self.grads = {name: np.ones(1) for name in names_of_parts}


def cross_entropy_loss(logits, targets, mask=None):
    return float(logits.flat[0]), np.zeros_like(logits)
