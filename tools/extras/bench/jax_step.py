"""One JAX training process: the GPT of a heed config, the trainer's step under jit, as JSON on standard output.

    python tools/extras/bench/jax_step.py --layers 4 --heads 4 --width 128 --context 64 --batch 12 --vocab 65 \
        --dropout 0.0 --steps 100 [--bias]

The same step as torch_step.py. Prints {"ms": median of the steps, "mb": peak memory}.
"""
import argparse
import json
import resource
import statistics
import time

import jax
import jax.numpy as jnp


def make_parameters(a, key):
    shapes = {"tokens": (a.vocab, a.width), "positions": (a.context, a.width)}
    norms = ["norm"]
    for i in range(a.layers):
        norms += [f"{i}.norm1", f"{i}.norm2"]
        for name, rows, columns in (("qkv", a.width, 3 * a.width), ("out", a.width, a.width),
                                    ("up", a.width, 4 * a.width), ("down", 4 * a.width, a.width)):
            shapes[f"{i}.{name}"] = (rows, columns)
            if a.bias:
                shapes[f"{i}.{name}.bias"] = (columns,)
    keys = jax.random.split(key, len(shapes))
    parameters = {n: 0.02 * jax.random.normal(k, s) if len(s) > 1 else jnp.zeros(s)
                  for k, (n, s) in zip(keys, shapes.items())}
    for name in norms:
        parameters[name] = jnp.ones(a.width)
        if a.bias:
            parameters[name + ".bias"] = jnp.zeros(a.width)
    return parameters


def make_loss(a):
    def norm(p, name, x):
        centred = x - x.mean(-1, keepdims=True)
        y = centred * jax.lax.rsqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * p[name]
        return y + p[name + ".bias"] if a.bias else y

    def linear(p, name, x):
        return x @ p[name] + (p[name + ".bias"] if a.bias else 0)

    def drop(key, x):
        if a.dropout == 0:
            return x
        keep = jax.random.bernoulli(key, 1 - a.dropout, x.shape)
        return jnp.where(keep, x / (1 - a.dropout), 0)

    def attention(p, i, key, x):
        batch, tokens, width = x.shape
        split = lambda t: t.reshape(batch, tokens, a.heads, -1).transpose(0, 2, 1, 3)
        q, k, v = map(split, jnp.split(linear(p, f"{i}.qkv", x), 3, axis=-1))
        scores = q @ k.transpose(0, 1, 3, 2) / (width // a.heads) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -jnp.inf)
        y = drop(key, jax.nn.softmax(scores)) @ v
        return linear(p, f"{i}.out", y.transpose(0, 2, 1, 3).reshape(x.shape))

    def loss(p, ids, targets, key):
        keys = iter(jax.random.split(key, 1 + 3 * a.layers))
        x = drop(next(keys), p["tokens"][ids] + p["positions"])
        for i in range(a.layers):
            x = x + drop(next(keys), attention(p, i, next(keys), norm(p, f"{i}.norm1", x)))
            hidden = jax.nn.gelu(linear(p, f"{i}.up", norm(p, f"{i}.norm2", x)), approximate=False)
            x = x + drop(next(keys), linear(p, f"{i}.down", hidden))
        logits = norm(p, "norm", x) @ p["tokens"].T
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1)
        return -chosen.mean()
    return loss


def make_step(a, lr=1e-3, beta1=0.9, beta2=0.99, decay=0.1, eps=1e-8):
    gradient = jax.value_and_grad(make_loss(a))

    def step(p, m, v, t, ids, targets, key):
        loss, g = gradient(p, ids, targets, key)
        norm = jnp.sqrt(sum((x ** 2).sum() for x in g.values()))
        clip = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
        new_p, new_m, new_v = {}, {}, {}
        for name, x in g.items():
            new_m[name] = beta1 * m[name] + (1 - beta1) * clip * x
            new_v[name] = beta2 * v[name] + (1 - beta2) * (clip * x) ** 2
            update = (new_m[name] / (1 - beta1 ** t)) / (jnp.sqrt(new_v[name] / (1 - beta2 ** t)) + eps)
            new_p[name] = p[name] - lr * (update + decay * p[name])
        return new_p, new_m, new_v, loss
    return jax.jit(step, donate_argnums=(0, 1, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("layers", "heads", "width", "context", "batch", "vocab", "steps"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=0, help="ignored: set the affinity of the process")
    parser.add_argument("--bias", action="store_true")
    a = parser.parse_args()
    key = jax.random.PRNGKey(1)
    p = make_parameters(a, key)
    m, v = ({n: jnp.zeros_like(x) for n, x in p.items()} for _ in range(2))
    ids, targets = (jax.random.randint(k, (a.batch, a.context), 0, a.vocab) for k in jax.random.split(key))
    step, warm_up, seconds = make_step(a), 3, []
    for t in range(1, warm_up + a.steps + 1):
        key, here = jax.random.split(key)
        start = time.perf_counter()
        p, m, v, loss = step(p, m, v, t, ids, targets, here)
        loss.item()
        jax.block_until_ready(p)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"ms": 1e3 * statistics.median(seconds[warm_up:]), "mb": peak}))


if __name__ == "__main__":
    main()
