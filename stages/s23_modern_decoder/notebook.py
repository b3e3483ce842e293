# %% [markdown]
# # A model of today, trained by your own loop
# Your model reads sentences of the course, with one large batch a step and with several small ones.

# %%
import matplotlib.pyplot as plt
import numpy as np
from modern import ModernGPT, initial_loss, scaled_initialisation, train

lines = (STAGE / "data" / "sentences.txt").read_text().splitlines()  # noqa: F821
sentences = [[".", *line.split()[:-1]] for line in lines]
words = sorted({word for sentence in sentences for word in sentence})
index = {word: place for place, word in enumerate(words)}
text = np.array([index[word] for sentence in sentences[:700] for word in sentence])


def batches(rng, size, length=24):
    """Yield (ids, targets) from places of the text drawn at random, for ever."""
    while True:
        stretches = text[rng.integers(0, len(text) - length, size=(size, 1)) + np.arange(length + 1)]
        yield stretches[:, :-1], stretches[:, 1:]


def adam(params, grads, state, learning_rate):
    """Return one step of Adam, as in s05."""
    count, moved, kept = state.get("count", 0) + 1, {}, {}
    for name, value in params.items():
        mean, square = state.get(name, (0.0, 0.0))
        kept[name] = mean, square = 0.9 * mean + 0.1 * grads[name], 0.999 * square + 0.001 * grads[name] ** 2
        size = np.sqrt(square / (1 - 0.999**count)) + 1e-8
        moved[name] = value - learning_rate * mean / (1 - 0.9**count) / size
    return moved, {"count": count, **kept}


# %%
num_steps = 150
for size, accumulate in ((8, 1), (2, 4)):
    rng = np.random.default_rng(0)
    model = ModernGPT(len(words), 1, 32, 4, 2, 108, rng)
    scaled_initialisation(model, 1, rng)
    rate = lambda step: 0.015 * min(1, (step + 1) / 15) * (1 - step / num_steps)  # noqa: E731
    history = train(model, batches(rng, size), adam, rate, num_steps, accumulate=accumulate)
    plt.plot(history["loss"], label=f"{accumulate} times {size} stretches a step")
plt.axhline(initial_loss(len(words)), color="grey", linestyle=":", label="a guess")
plt.xlabel("step")
plt.ylabel("cross-entropy in nats")
plt.legend()
plt.show()

# %% [markdown]
# How long were the gradients before they were clipped to 1? And what does the model write, token by token?

# %%
plt.plot(history["norm"])
plt.xlabel("step")
plt.ylabel("length of the gradient")
plt.show()
written = [index[word] for word in [".", "the", "cows", "near", "the", "old", "barn"]]
logits, cache = model.forward_with_cache(np.array([written]))
for _ in range(8):
    written.append(int(logits[0, -1].argmax()))
    logits, cache = model.forward_with_cache(np.array([written[-1:]]), cache)
print(" ".join(words[each] for each in written))
