"""Makes moons.safetensors: 100 points of two half moons that interlock, as scikit-learn's make_moons(100, noise=0.1).

    python3 tools/extras/own_data/configs/moons.py tools/extras/own_data/configs/moons.safetensors

x (100, 1, 2) are the points, y (100, 1, 1) the moons: -1 and 1. They take turns, so that any batch has both.
"""
import json
import math
import random
import struct
import sys

COUNT, NOISE = 100, 0.1


def main():
    draw = random.Random(1337)
    x, y = [], []
    for i in range(COUNT):
        upper, angle = i % 2 == 0, math.pi * (i // 2) / (COUNT // 2 - 1)
        point = (math.cos(angle), math.sin(angle)) if upper else (1 - math.cos(angle), 0.5 - math.sin(angle))
        x += [draw.gauss(middle, NOISE) for middle in point]
        y.append(-1 if upper else 1)
    tensors = {"x": ([COUNT, 1, 2], x), "y": ([COUNT, 1, 1], y)}
    header, body = {}, b""
    for name, (shape, values) in tensors.items():
        packed = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(packed)]}
        body += packed
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


main()
