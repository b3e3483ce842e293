# %% [markdown]
# # Optimisation, drawn with your functions
# A narrow valley, along one axis twenty times as steep as along the other. Which rule goes straight to the bottom?

# %%
import matplotlib.pyplot as plt
import numpy as np
from optimizers import adam_step, minimize, momentum_step, sgd_step, warmup_cosine

steepness = np.array([1.0, 20.0])


def f(x):
    return 0.5 * float(np.sum(steepness * x**2))


def grad_f(x):
    return steepness * x


# %%
start = np.array([-4.0, 1.5])
rules = {
    "gradient descent": (sgd_step, 0.08),
    "momentum": (momentum_step, 0.02),
    "Adam": (adam_step, 0.3),
}
a, b = np.meshgrid(np.linspace(-5, 5, 80), np.linspace(-2, 2, 80))
plt.contour(a, b, 0.5 * (steepness[0] * a**2 + steepness[1] * b**2), levels=15, alpha=0.4)
histories = {}
for name, (rule, rate) in rules.items():
    path = [minimize(f, grad_f, start, rule, steps, learning_rate=rate)[0] for steps in range(40)]
    histories[name] = minimize(f, grad_f, start, rule, 40, learning_rate=rate)[1]
    plt.plot(*np.transpose(path), ".-", label=name)
plt.legend()
plt.show()

# %% [markdown]
# The same, as a loss curve. Change the rates above: from which rate on does gradient descent fly apart?

# %%
for name, history in histories.items():
    plt.semilogy(history, label=name)
plt.xlabel("step")
plt.ylabel("f(x)")
plt.legend()
plt.show()

# %%
plt.plot([warmup_cosine(step, 0.1, 20, 200) for step in range(200)])
plt.xlabel("step")
plt.ylabel("learning rate")
plt.show()
