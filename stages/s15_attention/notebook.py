# %% [markdown]
# # Attention, drawn with your functions
# A sentence, each word a vector that also says where it stands. Who attends to whom, and what does a mask change?

# %%
import matplotlib.pyplot as plt
import numpy as np
from attention import create_causal_mask, scaled_dot_product_attention, sinusoidal_encoding, split_heads

words = ["the", "old", "cat", "sat", "on", "the", "mat"]
rng = np.random.default_rng(0)
d_model = 16
table = {word: rng.normal(size=d_model) for word in dict.fromkeys(words)}
x = np.array([table[word] for word in words])
try:
    x += sinusoidal_encoding(len(words), d_model)
except NotImplementedError:
    print("sinusoidal_encoding is not written yet: until then no word says where it stands.")


def show(weights, title, axes):
    """Draw who attends to whom: a row for each query, a column for each key."""
    axes.imshow(weights, cmap="Blues", vmin=0)
    axes.set_title(title)
    axes.set_xticks(range(len(words)), words, rotation=90)
    axes.set_yticks(range(len(words)), words)


# %%
_, plain = scaled_dot_product_attention(x, x, x)
_, causal = scaled_dot_product_attention(x, x, x, create_causal_mask(len(words)))
fig, axes = plt.subplots(1, 2, figsize=(9, 4.5))
show(plain, "every word sees all", axes[0])
show(causal, "no word sees a later one", axes[1])
plt.show()

# %% [markdown]
# Each head has a slice of the features, and so an opinion of its own. Change the number of heads.

# %%
heads = 4
parts = split_heads(x[None], heads)
_, weights = scaled_dot_product_attention(parts, parts, parts)
fig, axes = plt.subplots(1, heads, figsize=(4 * heads, 4))
for head in range(heads):
    show(weights[0, head], f"head {head}", axes[head])
plt.show()

# %% [markdown]
# The encoding of positions: a row for each position. Near ones look alike, far ones do not.

# %%
plt.imshow(sinusoidal_encoding(64, 64), cmap="RdBu", aspect="auto")
plt.xlabel("feature")
plt.ylabel("position")
plt.show()
