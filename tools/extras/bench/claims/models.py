"""The models of configs/claims.md, by the names of their runs."""
from claims.measure import Model

TRANSLATORS = ("reorder_translation", "reorder_translation_rnn_attention", "reorder_translation_fixed_context",
               "reorder_translation_rnn")  # in the order of the table
WIDTH, HEADS, WIDTHS, DROPOUTS = 64, (1, 2, 4, 8), (8, 32, 128, 512), (0, 0.1, 0.2, 0.3, 0.4, 0.5)
SMALL = (f"model.d_model={WIDTH}", "model.num_layers=2", "model.dropout=0")
TEXTS = {
    "shakespeare": Model("shakespeare_multi_head_attention", (*SMALL, "optimizer.lr=3e-3", "schedule.min_lr=3e-4",
                                                              "eval.every=none", "sample.every=none")),
    "verdict": Model("the_verdict", (*SMALL, "eval.every=25", "train.steps=800", "optimizer.lr=2e-3", "sample.every=none")),
}
# What is done with the scores of four heads, from the bottom of the ladder to its top.
RUNGS = {
    "nothing": (f"model.attention={{type: linear, d_in: {WIDTH}, d_out: {WIDTH}}}",),
    "equal": ("model.attention={type: multi_head_attention, scale: 0}",),
    "scores": ("model.attention={type: multi_head_attention, attention_weights: none}",),
    "sum": ("model.attention={type: multi_head_attention, attention_weights: sum}",),
    "softmax": (),
}
MEMORIES = {"rnn": "rnn", "gru": "gru", "lstm": "lstm", "conv1d": "conv1d, kernel_size: 8", "rwkv": "rwkv_time_mixing",
            "window": "multi_head_attention, window: 16", "attention": "multi_head_attention"}
REACHING = {"rnn": "rnn", "lstm": "lstm", "gru": "gru", "rwkv": "rwkv_time_mixing", "linear": "linear_attention",
            "delta": "gated_delta_net", "window": "multi_head_attention, window: 16",
            "alibi": "multi_head_attention, alibi: true", "attention": "multi_head_attention"}
LOOPS = (2, 4, 8, 16)  # heads
# The best of the rates tried, and how many steps AdamW takes in the seconds of a thousand of Muon.
OPTIMIZERS = {
    "adamw": ("optimizer.lr=2e-2", "schedule.min_lr=2e-3"),
    "muon": ("optimizer={type: muon, lr: 3e-2, adamw: {lr: 3e-2, betas: [0.9, 0.99], weight_decay: 0.1}}", "schedule.min_lr=3e-3"),
}
IN_THE_SAME_TIME = 1300


def on(text, *sets, asked=()):
    return Model(TEXTS[text].config, (*TEXTS[text].sets, *sets), asked)


def attention(*fields):
    return f"model.attention={{{', '.join(('type: multi_head_attention', *fields))}}}"


def own_heads(kind, width, heads, more=""):
    """Heads of any width in place of attention; a Linear layer brings their output back to the width of the model."""
    layer = f"{{type: {kind}, d_in: {WIDTH}, d_out: {width}, context_length: 64, num_heads: {heads}{more}}}"
    linear = f"{{type: linear, d_in: {heads * width}, d_out: {WIDTH}}}"
    return "model.num_heads=1", f"model.attention={{type: sequential, layers: [{layer}, {linear}]}}"


def sentences(task, *sets):
    steps = {"negation": 1500, "word_sense": 800}[task]
    return Model(task, ("model.num_heads=1", f"train.steps={steps}", "eval.every=none", "sample.every=none", *sets))


def remembering(kind, steps=400, data="data.path=runs/recall/texts.tsv", asked=("distances",)):
    """A model for the texts of recall.py."""
    heads = 4 if "attention" in kind or "delta" in kind else 1
    return Model("own_labels", (
        data, "model.type=gpt_classifier", f"model.d_model={WIDTH}", "model.position=none",
        "optimizer.lr=3e-3", "eval.every=none", f"train.steps={steps}", f"model.num_heads={heads}",
        f"model.attention={{type: {kind}}}"), asked)


def timed(heads):
    """The same attention as a loop over its heads and as one product, in a model that has little else."""
    width = 256
    base = (f"model.d_model={width}", "model.num_layers=2", "model.dropout=0", "model.feed_forward=none")
    loop = f"type: multi_head_attention_wrapper, d_in: {width}, d_out: {width // heads}, context_length: 64, num_heads: {heads}"
    sides = {"loop": ("model.num_heads=1", f"model.attention={{{loop}}}"),
             "product": (f"model.num_heads={heads}", attention("out_proj: false"))}
    return {f"{side}-{heads}": Model("shakespeare_multi_head_attention", (*base, *sets)) for side, sets in sides.items()}


def claim_models():
    models = {"shakespeare": on("shakespeare", asked=("text", "heads"))}  # 4 heads; all on Shakespeare are compared with it
    models |= {f"verdict-heads-{heads}": on("verdict", f"model.num_heads={heads}") for heads in HEADS}
    models |= {f"shakespeare-heads-{heads}": on("shakespeare", f"model.num_heads={heads}") for heads in HEADS}
    for text, usual in (("shakespeare", "shakespeare"), ("verdict", "verdict-heads-4")):
        models |= {f"{text}-dropout-{dropout}": on(text, attention(f"dropout: {dropout}")) for dropout in DROPOUTS}
        models |= {f"{text}-heads-4": models[usual], f"{text}-dropout-0": models[usual]}
    for width in (WIDTH // 4, WIDTH):
        models[f"shakespeare-separate-{width}"] = on(
            "shakespeare", *own_heads("multi_head_attention_wrapper", width, 4), asked=("heads",))
    without, bare = attention("out_proj: false"), "model.feed_forward=none"
    for name, sets in (("wide-feed-forward", ["model.hidden_multiplier=10"]), ("no-out_proj", [without]), ("bare", [bare]),
                       ("bare-no-out_proj", [bare, without])):
        models[f"shakespeare-{name}"] = on("shakespeare", *sets)
    for kind, scale in (("scaled", "auto"), ("unscaled", 1)):
        heads = {d: own_heads("multi_head_attention", d, 1, f", out_proj: false, scale: {scale}") for d in WIDTHS}
        models |= {f"shakespeare-{kind}-{d}": on("shakespeare", *head, asked=("entropy",)) for d, head in heads.items()}
    models["shakespeare-leak"] = on("shakespeare", attention("causal: false"), asked=("text",))
    for name, instead in (("none", f"linear, d_in: {WIDTH}, d_out: {WIDTH}"), ("simple", "simple_attention"),
                          ("v1", "self_attention_v1"), ("v2", "self_attention_v2")):
        instead = f"model.attention={{type: {instead}}}"
        models[f"sort-{name}"] = Model("sort_self_attention_v2", ("eval.every=none", instead))
        models |= {f"{task}-{name}": sentences(task, instead) for task in ("negation", "word_sense")}
    models["negation-bag"] = Model("negation_bag_of_words", ("eval.every=none",))
    for name, change in (("ones", attention("scale: 0")), ("head", attention()), ("heads", "model.num_heads=4")):
        models[f"negation-{name}"] = sentences("negation", change)
    for config in TRANSLATORS:
        size = ("model.d_model=96", "train.steps=1000") if "_rnn" in config else (f"model.d_model={WIDTH}",)
        models[config] = Model(config, ("eval.every=none", "sample.every=none", *size))
    for heads in (2, 4):
        models[f"verdict-separate-{heads}"] = on("verdict", *own_heads("multi_head_attention_wrapper", WIDTH, heads))
    models["verdict-wide-feed-forward"] = on("verdict", "model.num_heads=1", "model.hidden_multiplier=10")
    models["verdict-four-models"] = on("verdict", "model.num_heads=1", asked=("ensemble",))
    for name, change in RUNGS.items():
        models[f"rung-{name}"] = on("shakespeare", *change)
        models[f"rung-{name}-fast"] = on("shakespeare", "optimizer.lr=1e-2", *change)
    models["rung-softmax"] = models["shakespeare"]
    for name in ("scores", "sum"):
        models[f"negation-{name}"] = sentences("negation", *RUNGS[name])
    models |= {f"recall-{name}": remembering(kind) for name, kind in MEMORIES.items()}
    models["recall-lstm-longer"] = remembering("lstm", steps=1200)
    evenly = ("data={type: labelled, path: runs/recall/texts.tsv, validation: runs/recall/uniform.tsv, text: question, "
              "label: topic, tokenizer: words}")
    models |= {f"reach-{name}": remembering(kind, data=evenly, asked=("distances", "reach"))
               for name, kind in REACHING.items()}
    models |= {name: on("shakespeare", *optimizer) for name, optimizer in OPTIMIZERS.items()}
    models["adamw-as-long"] = on("shakespeare", *OPTIMIZERS["adamw"], f"train.steps={IN_THE_SAME_TIME}")
    for heads in LOOPS:
        models |= timed(heads)
    return models
