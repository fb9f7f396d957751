# One large response over a satellite: why does a line of 18.75 Mbit/s give so little?
set -e
log=$DATA/squid/webreadr-2010-log.squid

farweb new lesson.toml --path geo-2021 --log "$log" --server-time none -q
for window in "32 KiB" "64 KiB" "128 KiB"; do
    set="leg.0.tcp.buffer=\"$window\""
    COLUMNS=120 farweb check lesson.toml --set "$set" --details | grep "a connection can carry"
    farweb run lesson.toml --set "$set" -o lesson --force -q
    farweb sql lesson "select max(response_bytes) as bytes, round(max_by(latency_s - first_byte_s, response_bytes), 2)
                       as transfer_s from requests"
done
