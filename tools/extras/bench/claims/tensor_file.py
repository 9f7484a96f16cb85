"""safetensors: the length of a header, the header as JSON, the numbers."""
import json
import struct


def read(path):
    """The header, {name: {"shape": ..., "data_offsets": ...}}, and the numbers."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size)), bytearray(file.read())


def write(path, header, numbers):
    described = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(described)) + described + numbers)
