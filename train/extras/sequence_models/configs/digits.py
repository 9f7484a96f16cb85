"""Makes digits.safetensors: pictures of 8 x 8 pixels, of ten digits and four shapes.

    python3 train/extras/sequence_models/configs/digits.py train/extras/sequence_models/configs/digits.safetensors

Each is drawn with a pen of its own: lines between points of a sketch, which is moved, turned, stretched and bent, in a
thickness and a darkness of its own, on paper with grain. The labels 0 to 9 are the digits; 10 to 13 are a square, a
triangle, a cross and a diamond. Needs Python only; the file is the same on every machine.
"""
import json
import math
import random
import struct
import sys

SIDE, COUNT = 8, 2800


def arc(x, y, rx, ry, begin, end, steps=10):
    """Points on an ellipse, in degrees clockwise from the right."""
    angles = (math.radians(begin + (end - begin) * i / steps) for i in range(steps + 1))
    return [(x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles]


# Strokes in a box from (-1, -1), at the top left, to (1, 1).
SKETCHES = [
    [arc(0, 0, 0.6, 0.9, 0, 360, 20)],
    [[(-0.4, -0.5), (0.1, -0.9), (0.1, 0.9)]],
    [arc(0, -0.4, 0.6, 0.5, 180, 380) + [(-0.6, 0.9), (0.65, 0.9)]],
    [arc(-0.05, -0.45, 0.6, 0.45, 200, 450) + arc(-0.05, 0.45, 0.65, 0.45, 270, 520)],
    [[(0.3, 0.9), (0.3, -0.9), (-0.65, 0.35), (0.7, 0.35)]],
    [[(0.55, -0.9), (-0.45, -0.9), (-0.5, -0.1)] + arc(-0.05, 0.35, 0.65, 0.5, 230, 520)],
    [[(0.4, -0.9)] + arc(0, 0.4, 0.6, 0.5, 200, -160, 16)],
    [[(-0.6, -0.9), (0.6, -0.9), (-0.15, 0.9)]],
    [arc(0, -0.45, 0.45, 0.42, 90, 450, 14), arc(0, 0.42, 0.58, 0.47, -90, 270, 14)],
    [arc(0, -0.4, 0.55, 0.48, 0, 360, 14) + [(0.5, 0.0), (0.3, 0.9)]],
    [[(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8), (-0.8, -0.8)]],
    [[(0, -0.85), (0.9, 0.8), (-0.9, 0.8), (0, -0.85)]],
    [[(-0.75, -0.75), (0.75, 0.75)], [(0.75, -0.75), (-0.75, 0.75)]],
    [[(0, -0.95), (0.85, 0), (0, 0.95), (-0.85, 0), (0, -0.95)]],
]


def distance(px, py, a, b):
    """From a point to a piece of a line."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    at = 0 if length == 0 else min(1, max(0, ((px - a[0]) * dx + (py - a[1]) * dy) / length))
    return math.hypot(px - a[0] - at * dx, py - a[1] - at * dy)


def picture(draw, sketch):
    """SIDE * SIDE bytes, row by row."""
    turn, lean = math.radians(draw.uniform(-9, 9)), draw.uniform(-0.2, 0.2)
    wide, high = draw.uniform(2.1, 2.9), draw.uniform(2.6, 3.2)
    right, down = draw.uniform(-0.75, 0.75), draw.uniform(-0.5, 0.5)
    thick, dark, paper = draw.uniform(0.35, 0.75), draw.uniform(150, 255), draw.uniform(0, 30)

    def place(x, y):
        x, y = x + draw.gauss(0, 0.04) - lean * y, y + draw.gauss(0, 0.04)
        x, y = wide * x, high * y
        return (SIDE - 1) / 2 + right + x * math.cos(turn) - y * math.sin(turn), \
               (SIDE - 1) / 2 + down + x * math.sin(turn) + y * math.cos(turn)

    strokes = [[place(*point) for point in stroke] for stroke in sketch]
    pixels = []
    for y in range(SIDE):
        for x in range(SIDE):
            near = min(distance(x, y, a, b) for stroke in strokes for a, b in zip(stroke, stroke[1:]))
            ink = min(1, max(0, thick + 0.5 - near))
            pixels.append(round(min(255, max(0, paper + (dark - paper) * ink + draw.gauss(0, 14)))))
    return bytes(pixels)


def main():
    draw = random.Random(7)
    labels = [i % len(SKETCHES) for i in range(COUNT)]
    draw.shuffle(labels)
    images = b"".join(picture(draw, SKETCHES[label]) for label in labels)
    header = {"images": {"dtype": "U8", "shape": [COUNT, SIDE, SIDE], "data_offsets": [0, len(images)]},
              "labels": {"dtype": "U8", "shape": [COUNT], "data_offsets": [len(images), len(images) + COUNT]}}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + images + bytes(labels))


if __name__ == "__main__":
    main()
