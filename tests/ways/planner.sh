# A cache in front of a busy server: which hit ratio, at which size, and what does it give back in time?
set -e
log=$DATA/clf/nasa-jul95-excerpts.log.gz

farweb workload cache "$log" --policy lru --capacity 2MB --capacity 20MB --capacity "100 %" --json |
    python3 -c 'import json, sys
for row in json.load(sys.stdin)["results"]: print("{capacity_bytes:>9} B: {hit_ratio:.4f}".format(**row))'

# The same cache on a path: an hour of the log, with packets.
farweb new edge.toml --path geo-2021 --log "$log" --busiest 1h --cache 20MB -q
farweb run edge.toml -o edge -q
farweb sql edge "select served_by = 'cache' as hit, count(*) as requests, round(median(first_byte_s), 3) as first_byte_s
                 from requests group by 1 order by 1"
