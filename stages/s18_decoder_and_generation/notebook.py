# %% [markdown]
# # A small GPT, trained and drawn
# Your model reads sentences of the course and learns which word comes next. It takes a few seconds.

# %%
import matplotlib.pyplot as plt
import numpy as np
from decoder import GPT, cross_entropy_loss, generate, sample

lines = [line.split() for line in (STAGE / "data" / "sentences.txt").read_text().splitlines()]  # noqa: F821
words = sorted({word for sentence in lines for word in sentence})
index = {word: place for place, word in enumerate(words)}
longest = max(len(sentence) for sentence in lines)
ids = np.full((len(lines), longest), index["."])
real = np.full(ids.shape, False)
for at, sentence in enumerate(lines):
    ids[at, : len(sentence)] = [index[word] for word in sentence]
    real[at, : len(sentence)] = True

# %%
rng = np.random.default_rng(0)
model = GPT(len(words), longest, 1, 24, 4, rng=rng)
rate, num_steps, losses = 0.02, 120, []
mean = {name: np.zeros_like(value) for name, value in model.params.items()}
square = {name: np.zeros_like(value) for name, value in model.params.items()}
for step in range(1, num_steps + 1):
    rows = rng.integers(700, size=16)  # the last 200 of the 1000 sentences are held out
    logits = model.forward(ids[rows, :-1])
    loss, grad = cross_entropy_loss(logits, ids[rows, 1:], real[rows, 1:])
    model.backward(grad)
    grads, params = model.grads, model.params
    for name, value in params.items():  # a step of Adam, as in s05
        mean[name] = 0.9 * mean[name] + 0.1 * grads[name]
        square[name] = 0.99 * square[name] + 0.01 * grads[name] ** 2
        change = mean[name] / (1 - 0.9**step) / (np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8)
        params = {**params, name: value - rate * change}
    model.params = params
    losses.append(loss)
plt.plot(losses)
plt.xlabel("step")
plt.ylabel("cross-entropy in nats")
plt.show()
held_out, _ = cross_entropy_loss(model.forward(ids[800:, :-1]), ids[800:, 1:], real[800:, 1:])
print("perplexity of the held-out sentences", round(float(np.exp(held_out)), 2))

# %% [markdown]
# What does it write? A low temperature takes the likely words, a high one anything.

# %%
prompt = np.array([[index[word] for word in ["the", "cows", "near", "the", "old", "barn"]]])
for temperature in (0.2, 1.0, 3.0):
    found = generate(model, prompt, 3, lambda logits, t=temperature: sample(logits, temperature=t, rng=rng))
    print(temperature, " ".join(words[each] for each in found[0]))

# %%
scores = model.forward(prompt)[0, -1]
share = np.exp(scores - scores.max())
best = np.argsort(-share)[:8]
plt.barh([words[each] for each in best][::-1], (share / share.sum())[best][::-1])
plt.xlabel("probability of coming next")
plt.show()
