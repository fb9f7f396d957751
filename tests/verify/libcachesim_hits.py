"""Run in an environment of its own, where libCacheSim is: what its caches make of requests.

    python libcachesim_hits.py REQUESTS HITS POLICY CAPACITY

REQUESTS is a .npz file with the arrays `object`, `bytes` and `next` (number of the next request for the object,
2^63 - 1 for none). HITS becomes a .npy file: whether each request was a hit.
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


def main(requests: str, hits: str, policy: str, capacity: str) -> None:
    """Send the requests through a cache, one by one."""
    cache = POLICIES[policy](cache_size=int(capacity), hashpower=20)
    request, met = libcachesim.Request(), []
    columns = np.load(requests)
    for object_, size, following in zip(*(columns[name].tolist() for name in ("object", "bytes", "next")), strict=True):
        request.obj_id, request.obj_size, request.next_access_vtime = object_, size, following
        met.append(cache.get(request))
    np.save(hits, np.array(met))


if __name__ == "__main__":
    main(*sys.argv[1:])
