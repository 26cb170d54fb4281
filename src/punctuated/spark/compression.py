"""Compression of bytes for the state store: compressing is several times faster than sending more bytes."""

import pyarrow as pa

_CODEC = pa.Codec("zstd", compression_level=1)


def compress(data: bytes | pa.Buffer) -> bytes:
    """Fewer bytes, with the length of the data in front."""
    packed: bytes = _CODEC.compress(data, asbytes=True)
    return len(data).to_bytes(8, "little") + packed


def decompress(data: bytes) -> bytes:
    """The inverse."""
    unpacked: bytes = _CODEC.decompress(memoryview(data)[8:], int.from_bytes(data[:8], "little"), asbytes=True)
    return unpacked
