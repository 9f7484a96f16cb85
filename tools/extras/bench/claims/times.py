"""Seconds of a training step, of models by turns."""
import json

from claims.measure import train_arguments

ROUNDS, STEPS = 5, 60


def by_turns(heed, models):
    """{name: [the median milliseconds of a step, for each round]}: A B C A B C, so that a slow minute meets all alike."""
    found = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, model in models.items():
            arguments = train_arguments(model, 1)
            found[name].append(json.loads(heed("bench", *arguments, "--steps", STEPS, "--json"))["ms_per_step"])
    return found
