"""A language model from the tokenizer to the last word, made of your own stages: what `grader capstone` runs.

The grader calls these five functions in the sandbox, each call in a fresh process, and keeps in a checkpoint what they
return. So nothing is remembered between calls but what stands in their results: plain numbers, texts, arrays, lists and
dicts. settings is the table of that name in capstone.toml, with that of the chosen model, and "own_loop": whether your
own loop takes the steps.
"""

from itertools import islice

import numpy as np

from stages.s05_optimization.optimizers import adamw_step, clip_by_global_norm, warmup_cosine
from stages.s10_tokens_and_embeddings.tokens import bpe_decode, bpe_encode, byte_pair_merges
from stages.s18_decoder_and_generation.decoder import GPT, cross_entropy_loss, generate, sample
from stages.s23_modern_decoder.modern import ModernGPT, scaled_initialisation, train

BYTES = 256


def prepare(training, held_out, settings):
    """Return what both texts are as tokens.

    Returns:
        A dict: "tokenizer" is whatever `write` needs to know, "training" and "held_out" are integers of one axis, all
        of them from 0 to "vocabulary_size" - 1.
    """
    merges = [tuple(pair) for pair in byte_pair_merges(training[: settings["merges_from"]], settings["merges"])]
    return {
        "tokenizer": merges,
        "vocabulary_size": BYTES + len(merges),
        "training": np.asarray(bpe_encode(training, merges)),
        "held_out": np.asarray(bpe_encode(held_out, merges)),
    }


def begin(prepared, settings, seed):
    """Return the state before the first step: the parameters of a new model, and an optimiser that has seen nothing."""
    draws = np.random.default_rng(seed)
    model = _model(prepared["vocabulary_size"], settings, draws)
    if settings["model"] == "s23":
        scaled_initialisation(model, settings["depth"], draws)
    return {"params": model.params, "optimizer": {}}


def advance(state, prepared, settings, seed, first, count, total):
    """Take the steps first, first + 1, …, of which there are count, out of total.

    A step's batch follows from the seed and its number alone, so that it does not matter how often training stopped.
    The steps are taken by the loop of s23 where it is yours, and by the one below where it is not.

    Returns:
        (state, losses): the state after the last step, and the loss of each.

    Raises:
        ValueError: the loop has not taken that many steps, or lost what one of them gave.
    """
    model, optimizer = _with(state["params"], prepared, settings), state["optimizer"]
    warmup, given = min(settings["warmup"], total // 10), []

    def step(params, grads, _, learning_rate):
        nonlocal optimizer  # which a loop begins with {}, though this may be step 500
        decay = settings["weight_decay"]
        params, optimizer = adamw_step(params, grads, optimizer, learning_rate=learning_rate, weight_decay=decay)
        given.append(params)
        return params, optimizer

    def rate(number):
        return warmup_cosine(first + number + 1, settings["rate"], warmup, total)

    loop = train if settings["own_loop"] else _train
    batches = _batches(prepared["training"], settings, seed, first, count)
    history = loop(model, batches, step, rate, count, max_norm=settings["clip"])
    losses = history.get("loss", []) if isinstance(history, dict) else []
    if len(losses) != count:
        raise ValueError(f"train returned {str(history)[:60]}, expected a dict whose 'loss' has {count} numbers")
    if len(given) != count:
        raise ValueError(f"train called the optimizer {len(given)} times in {count} steps, expected once a step")
    if any(not np.array_equal(model.params[name], value) for name, value in given[-1].items()):
        raise ValueError("train left other parameters in the model than those that the optimizer returned last")
    return {"params": model.params, "optimizer": optimizer}, [float(loss) for loss in losses]


def measure(state, prepared, settings):
    """Return the mean of -log p(token | tokens before it) over every held-out token but the first.

    The model sees at most context_length tokens. Windows overlap by half, and in each but the first only the second
    half counts: every token is guessed once, and none from fewer than half a context if there is as much before it.
    """
    model = _with(state["params"], prepared, settings)
    ids, length = prepared["held_out"], settings["context_length"]
    total, counted = 0.0, 1
    while counted < len(ids):
        start = max(0, min(counted + length // 2, len(ids)) - 1 - length) if counted > 1 else 0
        window = ids[start : start + length + 1]
        mask = np.arange(start + 1, start + len(window)) >= counted
        loss, _ = cross_entropy_loss(model.forward(window[None, :-1]), window[None, 1:], mask[None])
        total += float(loss) * int(mask.sum())
        counted = start + len(window)
    return total / (len(ids) - 1)


def write(state, prepared, settings, prompt, tokens, temperature, seed):
    """Return the prompt, continued by so many tokens; an empty prompt begins a new line."""
    model = _with(state["params"], prepared, settings)
    merges, rng = [tuple(pair) for pair in prepared["tokenizer"]], np.random.default_rng(seed)
    ids = np.asarray(bpe_encode(prompt or "\n", merges))[None]
    go_on = _rolling if settings["model"] == "s23" else generate
    written = go_on(model, ids, tokens, lambda logits: sample(logits, temperature=temperature, rng=rng))
    return bpe_decode(written[0], merges)


def _rolling(model, ids, steps, choose):
    """What s18's generate returns, of a model whose cache keeps the last positions only: no token is read twice."""
    logits, cache = model.forward_with_cache(ids)
    for _ in range(steps):
        chosen = choose(logits[:, -1])[:, None]
        ids = np.concatenate([ids, chosen], axis=1)
        logits, cache = model.forward_with_cache(chosen, cache)
    return ids


def _train(model, batches, optimizer, schedule, num_steps, max_norm):
    """What s23's train does, as plainly as it goes: one batch a step."""
    losses, state = [], {}
    for number, (inputs, targets) in enumerate(islice(batches, num_steps)):
        loss, grad_logits = cross_entropy_loss(model.forward(inputs), targets)
        model.backward(grad_logits)
        grads, _ = clip_by_global_norm(model.grads, max_norm)
        model.params, state = optimizer(model.params, grads, state, learning_rate=schedule(number))
        losses.append(loss)
    return {"loss": losses}


def _model(vocabulary_size, settings, rng):
    depth, dim, heads = settings["depth"], settings["dim"], settings["heads"]
    if settings["model"] == "s18":
        return GPT(vocabulary_size, settings["context_length"], depth, dim, heads, rng=rng)
    kv_heads, hidden, window = settings["kv_heads"], settings["hidden"], settings["window"]
    return ModernGPT(vocabulary_size, depth, dim, heads, kv_heads, hidden, rng=rng, window=window)


def _with(params, prepared, settings):
    """The model with these parameters."""
    model = _model(prepared["vocabulary_size"], settings, np.random.default_rng(0))
    model.params = params
    return model


def _batches(ids, settings, seed, first, count):
    """The batches of the steps from the first on, and some that only a loop without an end takes."""
    for at in range(first, first + 2 * count):
        yield _batch(ids, settings, np.random.default_rng([seed, at]))
    raise ValueError(f"train took {2 * count} batches for {count} steps: take no more than the steps need")


def _batch(ids, settings, rng):
    """(inputs, targets): stretches of the text from places drawn at random, and the same one token later."""
    length = settings["context_length"]
    starts = rng.integers(0, len(ids) - length, size=settings["batch"])
    stretches = ids[starts[:, None] + np.arange(length + 1)]
    return stretches[:, :-1], stretches[:, 1:]
