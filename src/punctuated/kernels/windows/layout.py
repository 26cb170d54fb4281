"""The structures over a join's two windows as arrays (KN-06): one type for all pairs; `kind` says which at run time.

    group, low, high, number   the key of each stored tuple, by its position in the join's rings
    chain, buckets             hash buckets: a list per bucket, in the order of arrival (KN-14)
    tree, entries, pool        nodes of B+trees and T-trees: both sides draw on one pool

Every tuple is an interval [low, high] within its group, and a probe meets the tuples of its group that it overlaps.

Invariants:
- In the order (group, high, low, number), which is that of the trees, `low` never decreases within a group. So what a
  probe meets is one run of that order.
- Entries are distinct: no two tuples of a side have one number.
- A node's entries are copies of the keys of positions that are stored: no key changes before its position is removed.
"""

from typing import NamedTuple

import numpy as np

from punctuated.kernels.layout import Indices, Ints, Records

NESTED, HASHED, BTREE, TTREE = range(4)  # the kinds N, H, B, T

SMALLEST, LARGEST = -(2**63), 2**63 - 1
UNLIMITED = 2**62

INDEX = np.dtype(
    [
        ("kind", "i8"),
        ("count", "i8"),  # entries
        ("head", "i8"),  # the slot of the ring up to which the structure has followed it
        # N: outside of these nothing was stored; UNLIMITED and NONE if nothing at all.
        ("first_position", "i8"),
        ("last_position", "i8"),
        # H: buckets are a power of two, addressed by the top bits of a hash.
        ("first_bucket", "i8"),
        ("n_buckets", "i8"),
        ("shift", "i8"),
        ("limit", "i8"),  # entries above which there should be more buckets; UNLIMITED for the others
        # B and T.
        ("root", "i8"),
        ("height", "i8"),  # B: levels
        ("n_nodes", "i8"),
        ("reserve", "i8"),  # nodes that an insert may need; 0 for the others
    ]
)
BUCKET = np.dtype([("head", "i4"), ("tail", "i4")])  # the oldest position and the youngest; no tail without a head

# T: as usual. B, leaf: left and right are its neighbours. B, inner: left is the node that holds the children.
TREE_NODE = np.dtype(
    [("count", "i8"), ("height", "i8"), ("parent", "i8"), ("left", "i8"), ("right", "i8"), ("side", "i8")]
)
POOL = np.dtype([("node_size", "i8"), ("free", "i8"), ("n_free", "i8")])  # free nodes are linked by `right`


class Entries(NamedTuple):
    """What the nodes of trees hold: a row each."""

    group: Ints  # (n, node_size + 1): a B-node overflows by one before it is split
    high: Ints  # (n, node_size + 1)
    position: Indices  # (n, node_size + 2): an inner B-node has one more child than separators


class WindowIndex(NamedTuple):
    """Everything the structures of both windows work on."""

    sides: Records  # (2,) INDEX
    group: Ints  # (capacity,) by position: the left ring, then the right one
    low: Ints
    high: Ints
    number: Ints  # of arrival, ascending
    chain: Indices  # (capacity,) H: the next younger position of the bucket
    buckets: Records  # (n,) BUCKET: those of the left side, then those of the right one
    tree: Records  # (n,) TREE_NODE
    entries: Entries
    path: Indices  # (2, 64) B: nodes and slots on the way to a leaf
    pool: Records  # (1,) POOL
