# A village or a ship: a geostationary satellite or Starlink, for three kinds of traffic?
set -e
for log in squid/secrepo-2006-access1.log clf/nasa-jul95-excerpts.log.gz clf/semicomplete-2015-combined.log.gz; do
    farweb new satellite.toml --path geo-viasat --log "$DATA/$log" --busiest 1h --server-time none --force -q
    for path in geo-viasat starlink; do
        farweb run satellite.toml --set path.link.0.preset=$path -o $path --force -q
    done
    echo "$log"
    COLUMNS=80 farweb compare geo-viasat starlink | grep -E "^all|median|geo-viasat  |starlink  "
done
