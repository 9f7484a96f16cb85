#!/usr/bin/env python3
"""The schema of `heed schema` under an independent validator (Debian: python3-jsonschema, python3-yaml).

    schema_check.py HEED CONFIGS

Every config of the folder must fit it; every change below must be judged by the schema as it is by
`heed validate`. Exits with 77, which ctest shows as skipped, where the packages are missing.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}; tools/setup.sh --dev installs it")
    sys.exit(77)

# --set changes to quickstart.yaml that make it invalid.
BROKEN = """
seed=-1            seed=1.5             seed=true           seed="1"             seed=[1]
precision=float16  fused=1              sead=1              random.generators=x  random=separate
data.type=txt      data.path=[]         data.train_fraction=0   data.context_length=0  data.sampling=none
data.vocab=3       data=text            model.type=gtp      model.d_model=0      model.d_model=12.5
model.dropout=1    model.dropout=-0.1   model.num_layers=1001   model.bias=0     model.norm=batch
model.vocab_size=none   model.d_modle=3     model.attention=causal_attention
model.attention=[]      model.attention=[{wide: 3}]      model.attention=[linear]
model.attention={type: linear, wide: 3}     model.attention={num_heads: four}    model=[gpt]
optimizer.type=adamm    optimizer.betas=[0.9]   optimizer.betas=[0.9, 1.5]   optimizer.lr=-1
optimizer.momentum=0.9  optimizer.decay=some    optimizer=adamw     schedule.min_lr=-1
schedule={type: constant, min_lr: 0.1}      train.steps=0       train.batch_size=none
train.clip_grad_norm=0  train.log_every=never   train=5             eval.every=0
eval.batches=some       checkpoint.keep=0       checkpoint.optimizer_state=2
sample.prompt={a: 1}    sample.top_p=0          sample.top_k=1.5    sample.temperature=-1
model={type: gpt, context_length: 8, num_heads: 2, num_layers: 1}
model={type: sequential, layers: []}        model={type: sequential, layers: [{type: linear}]}
model={context_length: 8, d_model: 8, num_heads: 2, num_layers: 1}
data={path: data/tinyshakespeare.txt}
"""

# Changes that keep it valid.
RIGHT = """
model.attention=[{window: 4}, {type: causal_attention}]
seed=0                  precision=float32       random.generators=single    optimizer={lr: 1e-3}
optimizer={type: sgd, momentum: 0.9}            schedule={}             schedule={type: constant}
train.clip_grad_norm=none   train.accumulate=2  eval.batches=all        eval={every: none}
sample.top_p=1          sample.top_k=none       model.dropout=0         model.tie_embeddings=true
model.attention={type: causal_attention}        model.attention={num_heads: 4}
model.attention={type: multi_head_attention, packed: true}              data.context_length=8
model={type: gpt, d_model: 8, num_heads: 2, num_layers: 1, context_length: 8, norm: rms_norm}
optimizer.betas=[0, 0]      checkpoint.every=7  sample.prompt=3
sample.prompt=true      sample.prompt=A
"""


class Loader(yaml.SafeLoader):
    """YAML 1.2's core schema, as editors have it: 1e-3 is a number, `no` a text."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern in [
    ("bool", r"true|True|TRUE|false|False|FALSE"),
    ("int", r"[-+]?[0-9]+"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
    ("null", r"~|null|Null|NULL|"),
]:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), None)


def load(text):
    return yaml.load(text, Loader)


def changes(table):
    """[("a.b", value, "a.b=text"), ...]; two blanks or a line end divide the entries."""
    entries = [entry for entry in re.split(r"\s{2,}|\n", table) if entry]
    return [(*entry.split("=", 1), entry) for entry in entries]


def changed(config, path, text):
    config = copy.deepcopy(config)
    *folders, key = path.split(".")
    place = config
    for folder in folders:
        place = place.setdefault(folder, {})
    place[key] = load(text)
    return config


def main(heed, configs, *more):
    run = lambda *words: subprocess.run([heed, *words], capture_output=True, text=True)
    schema = json.loads(run("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = []

    files = sorted(file for folder in (configs, *more) for file in pathlib.Path(folder).glob("*.yaml"))
    for file in files:
        wrong += [f"{file}: {error.json_path}: {error.message}"
                  for error in validator.iter_errors(load(file.read_text()))]

    quickstart = pathlib.Path(configs) / "quickstart.yaml"
    base = load(quickstart.read_text())
    counts = {True: 0, False: 0}
    for right, table in [(True, RIGHT), (False, BROKEN)]:
        for path, text, entry in changes(table):
            if validator.is_valid(changed(base, path, text)) != right:
                wrong.append(f"{entry}: the schema says {'no' if right else 'yes'}")
            code = run("validate", str(quickstart), "--set", entry).returncode
            if code != (0 if right else 2):
                wrong.append(f"{entry}: heed validate exits with {code}")
            counts[right] += 1
    print("\n".join(wrong))
    print(f"{len(files)} configs, {counts[True]} right and {counts[False]} wrong changes, "
          f"{len(wrong)} differences")
    if len(files) < 10 or counts[True] < 20 or counts[False] < 50:
        print("fewer than there should be")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
