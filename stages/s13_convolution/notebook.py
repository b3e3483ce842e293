# %% [markdown]
# # Convolution, drawn with your functions
# A filter answers where the picture looks like it. Pooling keeps the strongest answers and halves the picture.

# %%
import matplotlib.pyplot as plt
import numpy as np
from convolution import conv2d_forward, max_pool2d_forward

y, x = (np.mgrid[0:32, 0:32] + 0.5) / 32
ring = np.abs(np.hypot(x - 0.34, y - 0.34) - 0.2) < 0.05
square = (np.abs(x - 0.74) < 0.14) & (np.abs(y - 0.72) < 0.14)
picture = (ring | square).astype(float)

filters = {
    "vertical edges": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    "horizontal edges": [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    "blur": np.full((3, 3), 1 / 9),
}

# %%
W = np.array(list(filters.values()), dtype=float)[:, None]  # (filters, channels, height, width)
answers, _ = conv2d_forward(picture[None, None], W, np.zeros(len(W)), padding=1)
pooled, _ = max_pool2d_forward(np.abs(answers))

fig, rows = plt.subplots(2, 4, figsize=(10, 5))
for axes in rows.flat:
    axes.set_axis_off()
rows[0, 0].imshow(picture, cmap="gray")
rows[0, 0].set_title("picture")
for place, name in enumerate(filters):
    largest = np.abs(answers[0, place]).max()
    rows[0, place + 1].imshow(answers[0, place], cmap="RdBu", vmin=-largest, vmax=largest)  # white is 0
    rows[0, place + 1].set_title(name)
    rows[1, place + 1].imshow(pooled[0, place], cmap="gray")
    rows[1, place + 1].set_title(f"pooled, {pooled.shape[2]} × {pooled.shape[3]}")
plt.show()

# %% [markdown]
# Add a filter of your own to `filters`: can you find one that answers to the ring and not to the square?
