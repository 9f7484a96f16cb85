"""The models that claims.py trains, each a config of configs/ with changes."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Model:
    config: str
    sets: tuple  # of --set
    asked: tuple = ()  # what else is measured: "entropy" of the attention weights, "text" that it writes


def attention(**fields):
    fields = {"type": "multi_head_attention", **fields}
    return "model.attention={" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


def layers(*each):
    """Layers in sequence in place of attention, each written as in YAML."""
    return "model.num_heads=1", f"model.attention={{type: sequential, layers: [{', '.join(each)}]}}"


WIDTH = 64
SMALL = (f"model.d_model={WIDTH}", "model.num_layers=2", "model.dropout=0")
HEADS = (1, 2, 4, 8)
WIDTHS = (8, 32, 128, 512)
DROPOUTS = (0, 0.1, 0.2, 0.5)


BASES = {
    "shakespeare": ("shakespeare_multi_head_attention", (*SMALL, "optimizer.lr=3e-3", "schedule.min_lr=3e-4", "eval.every=none",
                                                         "sample.every=none")),
    "the_verdict": ("the_verdict", (*SMALL, "eval.every=25", "train.steps=800", "optimizer.lr=2e-3", "sample.every=none")),
}


def shakespeare(*sets, asked=()):
    config, base = BASES["shakespeare"]
    return Model(config, (*base, *sets), asked)


def verdict(*sets):
    config, base = BASES["the_verdict"]
    return Model(config, (*base, *sets))


def one_head(width, scale):
    """One head of any width; a Linear layer brings its output back to the width of the model."""
    head = f"d_in: {WIDTH}, d_out: {width}, context_length: 64, num_heads: 1, out_proj: false, scale: {scale}"
    return shakespeare(*layers(f"{{type: multi_head_attention, {head}}}", f"{{type: linear, d_in: {width}, d_out: {WIDTH}}}"),
                       asked=("entropy",))


def separate_heads(width):
    """Four heads of that width, each with its own three matrices, and a Linear layer over all of them."""
    heads = f"d_in: {WIDTH}, d_out: {width}, context_length: 64, num_heads: 4"
    return shakespeare(*layers(f"{{type: multi_head_attention_wrapper, {heads}}}",
                               f"{{type: linear, d_in: {4 * width}, d_out: {WIDTH}}}"))


NO_ATTENTION = f"model.attention={{type: linear, d_in: {WIDTH}, d_out: {WIDTH}}}"  # each word by itself
WITHOUT_MATRICES = {  # claim 7: what stands in place of attention
    "none": NO_ATTENTION,
    "simple": "model.attention={type: simple_attention}",
    "v1": "model.attention={type: self_attention_v1}",
    "v2": "model.attention={type: self_attention_v2}",
}


def sort(*sets):
    return Model("sort_self_attention_v2", ("eval.every=none", *sets))


def sentences(task, *sets):
    steps = {"negation": 1500, "word_sense": 800}[task]
    return Model(task, ("model.num_heads=1", f"train.steps={steps}", "eval.every=none", "sample.every=none", *sets))


def translation(config, *sets):
    return Model(config, ("eval.every=none", "sample.every=none", *sets))


MODELS = {"shakespeare": shakespeare(asked=("text",))}  # the model that all on Shakespeare are compared with: 4 heads
for heads in HEADS:
    if heads != 4:
        MODELS[f"shakespeare-heads-{heads}"] = shakespeare(f"model.num_heads={heads}")
    MODELS[f"verdict-heads-{heads}"] = verdict(f"model.num_heads={heads}")
for width in (WIDTH // 4, WIDTH):
    MODELS[f"shakespeare-separate-{width}"] = separate_heads(width)
MODELS["shakespeare-wide-feed-forward"] = shakespeare("model.hidden_multiplier=10")
MODELS["shakespeare-no-out_proj"] = shakespeare(attention(out_proj="false"))
MODELS["shakespeare-bare"] = shakespeare("model.feed_forward=none")
MODELS["shakespeare-bare-no-out_proj"] = shakespeare("model.feed_forward=none", attention(out_proj="false"))
for width in WIDTHS:
    MODELS[f"shakespeare-scaled-{width}"] = one_head(width, "auto")
    MODELS[f"shakespeare-unscaled-{width}"] = one_head(width, 1)
for dropout in DROPOUTS:
    if dropout:
        MODELS[f"shakespeare-dropout-{dropout}"] = shakespeare(attention(dropout=dropout))
        MODELS[f"verdict-dropout-{dropout}"] = verdict(attention(dropout=dropout))
MODELS["shakespeare-leak"] = shakespeare(attention(causal="false"), asked=("text",))
for name, instead in WITHOUT_MATRICES.items():
    MODELS[f"sort-{name}"] = sort(instead)
    for task in ("negation", "word_sense"):
        MODELS[f"{task}-{name}"] = sentences(task, instead)
MODELS["negation-bag"] = Model("negation_bag_of_words", ("eval.every=none",))
MODELS["negation-ones"] = sentences("negation", attention(scale=0))
MODELS["negation-head"] = sentences("negation", attention())
MODELS["negation-heads"] = sentences("negation", "model.num_heads=4")
for config in ("reorder_translation", "reorder_translation_fixed_context"):
    MODELS[config] = translation(config, f"model.d_model={WIDTH}")
for config in ("reorder_translation_rnn", "reorder_translation_rnn_attention"):
    MODELS[config] = translation(config, "model.d_model=96", "train.steps=1000")
