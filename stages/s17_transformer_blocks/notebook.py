# %% [markdown]
# # Transformer blocks, drawn with your classes
# What goes through a stack of blocks? With a normalisation before each part the stream grows with the depth;
# with one behind each part it keeps its size.

# %%
import matplotlib.pyplot as plt
import numpy as np
from blocks import Block, PostNormBlock

rng = np.random.default_rng(0)
dim, heads, depth, length = 32, 4, 12, 10
x = rng.normal(size=(1, length, dim))

# %%
for name, kind in {"pre-norm": Block, "post-norm": PostNormBlock}.items():
    stream, sizes = x, [np.std(x)]
    for _ in range(depth):
        stream = kind(dim, heads, rng=rng).forward(stream)
        sizes.append(np.std(stream))
    plt.plot(sizes, "o-", label=name)
plt.xlabel("after how many blocks")
plt.ylabel("standard deviation of the features")
plt.legend()
plt.show()

# %% [markdown]
# And backwards: how much of the gradient of the last block's output reaches each block below? Change `depth` above.

# %%
for name, kind in {"pre-norm": Block, "post-norm": PostNormBlock}.items():
    blocks = [kind(dim, heads, rng=rng) for _ in range(depth)]
    stream = x
    for block in blocks:
        stream = block.forward(stream)
    grad = rng.normal(size=stream.shape)
    norms = []
    for block in reversed(blocks):
        grad = block.backward(grad)
        norms.append(np.linalg.norm(grad))
    plt.semilogy(range(depth, 0, -1), norms, "o-", label=name)
plt.xlabel("block")
plt.ylabel("norm of the gradient at its input")
plt.legend()
plt.show()
