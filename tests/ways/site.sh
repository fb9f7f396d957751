# A site whose certificates are to withstand a quantum computer: who waits, how long, and what takes it away?
set -e
log=$DATA/clf/semicomplete-2015-combined.log.gz
tls='start="resumed", scts=2, small_record="cloudflare"'
today="leg.0.tls={$tls, key_exchange=\"x25519\", certificates=\"ecdsa-p256\"}"
later="leg.0.tls={$tls, key_exchange=\"x25519mlkem768\", certificates=\"ml-dsa-65\"}"

farweb new site.toml --path mobile-2012 --log "$log" --busiest 6h --server-time none -q
COLUMNS=120 farweb check site.toml --set "$later" --details | grep -A1 "the server's flight"
farweb run site.toml --set "$today" -o today --force -q
farweb run site.toml --set "$later" -o later --force -q
for run in today later; do
    echo "$run"
    farweb sql $run "select visit_request, count(*) as requests, round(median(first_byte_s), 2) as first_byte_s
                     from requests group by 1 order by 1"
done
COLUMNS=80 farweb compare today later
COLUMNS=80 farweb size site.toml --set "$later" --vary leg.0.tcp.constants.initial_cwnd_segments=10..20 \
    --target 'p50(visit_first_latency) <= 1.01*best' | sed '/^$/q'
