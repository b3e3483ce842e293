# %% [markdown]
# # Probability, drawn with your functions
# Samples follow the density that they were drawn from, and a Monte Carlo estimate comes closer with their number.

# %%
import matplotlib.pyplot as plt
import numpy as np
from probability import entropy, fit_normal, monte_carlo_mean, normal_pdf

rng = np.random.default_rng(0)
x = np.linspace(-5, 5, 400)

# %%
samples = rng.normal(0.5, 1.2, size=500)
mean, std = fit_normal(samples)
plt.hist(samples, bins=30, density=True, alpha=0.4, label="500 samples")
plt.plot(x, normal_pdf(x, mean, std), label=f"your fit: mean {mean:.2f}, std {std:.2f}")
plt.legend()
plt.show()

# %% [markdown]
# How uncertain is a coin? Change the curve: what is the largest entropy, and where?

# %%
p = np.linspace(0, 1, 101)
plt.plot(p, [entropy(np.array([each, 1 - each])) for each in p])
plt.xlabel("probability of heads")
plt.ylabel("entropy in nats")
plt.show()

# %% [markdown]
# The mean of $x^2$ under a standard normal distribution is 1. The bars are your standard errors.

# %%
counts = [10, 100, 1000, 10_000]
found = [monte_carlo_mean(lambda x: x**2, lambda n, rng: rng.normal(size=n), n, rng) for n in counts]
plt.errorbar(counts, [each[0] for each in found], yerr=[each[1] for each in found], fmt="o", capsize=4)
plt.axhline(1, linestyle=":")
plt.xscale("log")
plt.xlabel("samples")
plt.show()
