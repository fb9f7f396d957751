"""Hits of libCacheSim's caches, for an environment of its own, where libCacheSim is.

For each line `POLICY CAPACITY` of standard input it reads requests.npz in the current folder, with the arrays `object`,
`bytes` and `next` (number of the next request for the object, 2^63 - 1 for none), writes hits.npy, true for each
request that was a hit, and answers `done`.
"""

import sys

import libcachesim  # type: ignore[import-not-found]
import numpy as np

POLICIES = {
    "fifo": libcachesim.FIFO,
    "lru": libcachesim.LRU,
    "lfu": libcachesim.LFU,
    "gdsf": libcachesim.GDSF,
    "arc": libcachesim.ARC,
    "s3-fifo": libcachesim.S3FIFO,
    "sieve": libcachesim.Sieve,
    "w-tinylfu": libcachesim.WTinyLFU,
    "belady": libcachesim.Belady,
}


def write_hits(policy: str, capacity: int) -> None:
    """Send the requests through a cache, one by one."""
    cache = POLICIES[policy](cache_size=capacity, hashpower=20)
    request, met = libcachesim.Request(), []
    columns = np.load("requests.npz")
    for object_, size, following in zip(*(columns[name].tolist() for name in ("object", "bytes", "next")), strict=True):
        request.obj_id, request.obj_size, request.next_access_vtime = object_, size, following
        met.append(cache.get(request))
    np.save("hits.npy", np.array(met))


if __name__ == "__main__":
    for line in sys.stdin:
        policy, capacity = line.split()
        write_hits(policy, int(capacity))
        sys.stdout.write("done\n")
        sys.stdout.flush()
