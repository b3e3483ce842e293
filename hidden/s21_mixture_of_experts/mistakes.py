"""A wrong answer that learners of this stage give and that no small change of the reference is."""

import numpy as np

from grader.course.answers import mistake
from hidden.s21_mixture_of_experts.solution import MoELayer, router_backward, top_k_gating_backward


@mistake(
    criterion="moe-gradients",
    replaces="MoELayer.backward",
    text="Gates of dropped choices got a gradient, although they count nothing in the output.",
    fix="Set the gradient of a gate to 0 where the choice was not kept.",
)
def dropped_gates_get_gradients(self, grad_output, right=MoELayer.backward):
    kept, chosen = self.kept, self._cache[3]
    shape, tokens, logits, _ = self._cache
    first = right(self, grad_output)
    grads = [expert.grads for expert in self.experts]
    grad, grad_gates = grad_output.reshape(tokens.shape), np.zeros_like(self.gates)
    for number, expert in enumerate(self.experts):
        rows, choices = np.nonzero(self.indices == number)
        grad_gates[rows, choices] = (grad[rows] * expert.forward(tokens[rows])).sum(axis=1)
    for expert, (rows, _, _), old in zip(self.experts, chosen, grads, strict=True):
        expert.forward(tokens[rows])
        expert.grads = old
    extra = top_k_gating_backward(grad_gates * ~kept, self.probabilities, self.indices, self._renormalize)
    of_x, of_router = router_backward(0 * logits, extra, tokens, self.router_weights)
    self._grad_router_weights = self._grad_router_weights + of_router
    return first + of_x.reshape(shape)
