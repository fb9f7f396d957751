# A campus over a long link: does the simulation give the times that its proxy logged, and what would a cable change?
set -e
log=$DATA/squid/secrepo-2006-access1.log

# Its own path first: round trips of 680 ms, and no time of servers, so that only the path is left.
farweb new campus.toml --path geo-2021 --log "$log" --server-time none -q
farweb run campus.toml --set 'path.link.0.up.delay="330 ms"' --set 'path.link.0.down.delay="330 ms"' -o own -q
farweb sql own "select round(latency_s, 2) as latency_s, count(*) as requests, max(response_bytes) as largest_bytes
                from requests group by 1 order by 1"

farweb new circuits.toml --log "$log" --server-time none --compare geo-2021,cable-1998 -q
farweb sweep circuits.toml -o circuits -q
farweb compare circuits --point path=geo-2021 --point path=cable-1998 --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["pairs"][0]["sentence"])'
