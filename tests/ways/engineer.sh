# A site for telephones: what does each handshake of TLS cost a visitor?
set -e
log=$DATA/clf/semicomplete-2015-combined.log.gz

farweb new mobile.toml --path mobile-2012 --log "$log" --busiest 6h --server-time none -q
for tls in "" '{version="1.2"}' '{version="1.3"}' '{version="1.3",small_record="1400 B"}'; do
    farweb run mobile.toml ${tls:+--set "leg.0.tls=$tls"} -o phones --force -q
    echo "tls = ${tls:-none}"
    farweb sql phones "select count(*) as first_requests, round(min(first_byte_s), 3) as least_s,
                              round(median(first_byte_s), 2) as median_s
                       from requests where visit_request = 'first'"
done
