//! Every rule beyond the schema, broken once and kept at its edge.

use super::cable_with;

/// Overrides of the cable that break one rule each, the key that is named, and the beginning of the message.
#[rustfmt::skip]
const RULES: &[(&[&str], &str, &str)] = &[
    (&["path.nodes=[\"a\"]", "leg.0.from=a", "leg.0.to=a"], "path.nodes", "found 1 node; a path has 2 to 255 nodes"),
    (&["path.nodes=[\"nz-proxy\", \"nz-proxy\", \"server\"]"], "path.nodes.1", "\"nz-proxy\" is there twice"),
    (&["path.nodes=[\"nz-proxy\", \" \", \"server\"]"], "path.nodes.1", "found an empty name"),
    (&["path.nodes=[\"nz-proxy\", \"us\\u001b[2J\", \"server\"]"], "path.nodes.1", "found \"us\\u{1b}[2J\"; a name is one line"),
    (&["name=\"two\\nlines\""], "name", "found \"two\\nlines\"; a name is one line"),
    (&["path.link=[]"], "path.link", "found 0 links for 3 nodes; write 2, one between"),
    (&["path.link.0.up.delay=25 h"], "path.link.0.up.delay", "found 90000 s; it is at most 24 h"),
    (&["path.link.0.down.queue=1 ns"], "path.link.0.down.queue", "found 1 ns; the limit counts the packet in transmission"),
    (&["path.link.1.down.queue=250 ms"], "path.link.1.down.queue", "found 250 ms at an unlimited rate, at which none waits; write a rate, or leave the key out"),
    (&["path.link.0.down.queue=0 B"], "path.link.0.down.queue", "found 0 B; the limit counts the packet in transmission"),
    (&["path.link.0.down.loss={kind=\"bernoulli\",probability=1.5}"], "path.link.0.down.loss.probability", "found 1.5; a probability is 0 to 1"),
    (&["path.link.0.up.loss={kind=\"gilbert-elliott\",good_to_bad=-1,bad_to_good=0.1}"], "path.link.0.up.loss.good_to_bad", "found -1; a probability"),
    (&["path.link.0.up.loss={kind=\"gilbert-elliott\",good_to_bad=0.1,bad_to_good=2}"], "path.link.0.up.loss.bad_to_good", "found 2; a probability"),
    (&["path.link.0.up.loss={kind=\"gilbert-elliott\",good_to_bad=0.1,bad_to_good=1,loss_good=3}"], "path.link.0.up.loss.loss_good", "found 3; a probability"),
    (&["path.link.0.up.loss={kind=\"gilbert-elliott\",good_to_bad=0.1,bad_to_good=1,loss_bad=4}"], "path.link.0.up.loss.loss_bad", "found 4; a probability"),
    (&["path.link.0.up.loss={kind=\"list\",drop=[\"data 8\",\"date 9\"]}"], "path.link.0.up.loss.drop.1", "\"date 9\" has the unknown kind \"date\""),
    (&["path.link.0.up.loss={kind=\"list\",drop=[\"data 0\"]}"], "path.link.0.up.loss.drop.0", "\"data 0\" has no whole number from 1"),
    (&["path.link.0.up.loss={kind=\"list\",drop=[\"data 9..8\"]}"], "path.link.0.up.loss.drop.0", "\"data 9..8\" is a range that ends before it starts"),
    (&["path.link.0.up.steps=[{at=\"2 s\",rate=\"1 Mbit/s\"},{at=\"2 s\",rate=\"2 Mbit/s\"}]"], "path.link.0.up.steps.1.at", "found 2 s a second time; steps follow"),
    (&["path.link.0.up.steps=[{at=\"2 s\",rate=\"0 bit/s\"}]"], "path.link.0.up.steps.0.rate", "\"0 bit/s\" is zero"),
    (&["path.link.0.up.steps=[{at=\"2 s\"}]"], "path.link.0.up.steps.0", "found a step that changes nothing; write rate, delay or loss"),
    (&["path.link.0.up.steps=[{at=\"2 s\",delay=\"25 h\"}]"], "path.link.0.up.steps.0.delay", "found 90000 s; it is at most 24 h"),
    (&["path.link.0.up.steps=[{at=\"2 s\",loss=2}]"], "path.link.0.up.steps.0.loss", "found 2; a probability is 0 to 1"),
    (&["path.link.1.up.steps=[{at=\"2 s\",rate=\"1 Mbit/s\"}]"], "path.link.1.up.steps.0.rate", "the link's own rate is unlimited; write a rate there"),
    (&["path.link.0.up.steps_every=2 s"], "path.link.0.up.steps_every", "there are no steps"),
    (&["path.link.0.up.steps_every=2 s", "path.link.0.up.steps=[{at=\"2 s\",loss=0}]"], "path.link.0.up.steps_every", "found 2 s; it is above the time of the last step, 2 s"),
    (&["path.link.0.up.outage=[{at=\"2 s\",lasts=\"0 s\"}]"], "path.link.0.up.outage.0.lasts", "found 0 s; write a duration above zero"),
    (&["path.link.0.up.outage=[{at=\"2 s\",lasts=\"3 s\",every=\"3 s\"}]"], "path.link.0.up.outage.0.every", "found 3 s for outages of 3 s; it is longer"),
    (&["path.link.0.up.outage=[{at=\"2 s\",lasts=\"1 ns\",every=\"2 ns\"}]"], "path.link.0.up.outage.0.every", "found 2 ns; what comes again does so in 1 ms or more"),
    (&["path.link.0.up.steps_every=1 us", "path.link.0.up.steps=[{at=\"1 ns\",loss=0}]"], "path.link.0.up.steps_every", "found 1 us; what comes again does so in 1 ms or more"),
    (&["path.link.0.handover={every=\"1 us\"}"], "path.link.0.handover.every", "found 1 us; what comes again"),
    (&["path.link.0.handover={every=\"1 s\",gap=[\"2 ms\",\"1 ms\"]}"], "path.link.0.handover.gap", "found 2 ms before 1 ms; write the smaller one first"),
    (&["path.link.0.handover={every=\"1 s\",gap=[\"2 ms\",\"1 s\"]}"], "path.link.0.handover.gap", "found 1 s for handovers every 1 s; it is shorter"),
    (&["path.link.0.handover={every=\"1 s\",rate=[1.5,0.5]}"], "path.link.0.handover.rate", "found 1.5 before 0.5; write the smaller one first"),
    (&["path.link.0.handover={every=\"1 s\",rate=[0,1]}"], "path.link.0.handover.rate", "found 0 to 1; a factor is above 0 and at most 1000"),
    (&["path.link.0.handover={every=\"1 s\",delay=[\"1 ms\",\"-1 ms\"]}"], "path.link.0.handover.delay", "found 1 ms before -1 ms; write"),
    (&["path.link.0.handover={every=\"1 s\",delay=[\"1 ms\",\"25 h\"]}"], "path.link.0.handover.delay", "found 90000 s; it is at most 24 h"),
    (&["path.link.0.handover={every=\"1 s\",loss=1.5}"], "path.link.0.handover.loss", "found 1.5; a probability is 0 to 1"),
    (&["path.link.0.handover={every=\"1 s\",loss_for=\"2 s\"}"], "path.link.0.handover.loss_for", "found 2 s for handovers every 1 s; it is shorter"),
    (&["path.link.0.handover={every=\"2 s\",gap=[\"0 s\",\"1 s\"]}", "path.link.0.up.outage=[{at=\"0 s\",lasts=\"1 s\",every=\"2 s\"}]"], "path.link.0.up.outage", "outages that come again, and gaps of handovers, take all the time"),
    (&["path.link.1.up.fade={clear=\"12 dB\",attenuation=[{at=\"0 s\",depth=\"0 dB\"}]}"], "path.link.1.up.fade", "the rate is unlimited; write a rate, which is there in a clear sky"),
    (&["path.link.0.up.steps=[{at=\"2 s\",loss=0}]", "path.link.0.up.fade={clear=\"12 dB\",attenuation=[{at=\"0 s\",depth=\"0 dB\"}]}"], "path.link.0.up.steps", "there is a fade, which sets rate and losses"),
    (&["path.link.0.up.fade={clear=\"12 dB\",report=\"1 us\",attenuation=[{at=\"0 s\",depth=\"0 dB\"}]}"], "path.link.0.up.fade.report", "found 1 us; what comes again"),
    (&["path.link.0.up.fade={clear=\"12 dB\",report=\"25 h\",attenuation=[{at=\"0 s\",depth=\"0 dB\"}]}"], "path.link.0.up.fade.report", "found 90000 s; it is at most 24 h"),
    (&["path.link.0.up.fade={clear=\"1 dB\",margin=\"4 dB\",attenuation=[{at=\"0 s\",depth=\"0 dB\"}]}"], "path.link.0.up.fade.clear", "found 1 dB with a margin of 4 dB, which the slowest modcod does not reach; write 1.65 dB or more"),
    (&["path.link.0.up.fade={clear=\"12 dB\",attenuation=[]}"], "path.link.0.up.fade.attenuation", "there is none; write { at, depth }, once at least"),
    (&["path.link.0.up.fade={clear=\"12 dB\",attenuation=[{at=\"2 s\",depth=\"0 dB\"},{at=\"2 s\",depth=\"1 dB\"}]}"], "path.link.0.up.fade.attenuation.1.at", "found 2 s behind 2 s; times follow one another"),
    (&["path.link.0.up.fade={clear=\"12 dB\",attenuation=[{at=\"2 s\",depth=\"13.351 dB\"}]}"], "path.link.0.up.fade.attenuation.0.depth", "found 13.351 dB, behind which nothing is sent any more; at the end write 13.35 dB or less"),
    (&["path.link.0.up.fade={clear=\"12\",attenuation=[]}"], "path.link.0.up.fade.clear", "\"12\" has no unit; write a level as a number and a unit, for example \"12 dB\" (units: mdB, dB)"),
    (&["path.link.0.up.schedule=a.csv", "path.link.0.up.fade={clear=\"12 dB\",attenuation=[{at=\"0 s\",depth=\"0 dB\"}]}"], "path.link.0.up.schedule", "there is a fade, which sets rate and losses; write schedule or fade"),
    (&["path.link.0.up.schedule=a.csv", "path.link.0.up.steps=[{at=\"2 s\",loss=0}]"], "path.link.0.up.steps", "there is a schedule, which sets steps; write steps or schedule"),
    (&["path.link.0.up.schedule=a.csv", "path.link.0.up.steps_every=2 s"], "path.link.0.up.steps", "there is a schedule, which sets steps; write steps or schedule"),
    (&["path.link.0.up.schedule= "], "path.link.0.up.schedule", "found an empty name; write that of a file"),
    (&["path.link.0.up.schedule=\"a\\nb\""], "path.link.0.up.schedule", "found \"a\\nb\"; a name is one line"),
    (&["path.link.0.up.schedule_after=repeat"], "path.link.0.up.schedule_after", "there is no schedule; write schedule = \"pass.csv\""),
    (&["path.link.0.up.variation={sigma=0.1,every=\"1 us\"}"], "path.link.0.up.variation.every", "found 1 us; what comes again"),
    (&["path.link.1.up.variation={sigma=0.1,every=\"1 s\"}"], "path.link.1.up.variation", "the rate is unlimited; write a rate, which then varies"),
    (&["path.link.0.up.jitter={}"], "path.link.0.up.jitter", "write either uniform or normal"),
    (&["path.link.0.up.jitter={uniform=\"1 ms\",correlation=0.5}"], "path.link.0.up.jitter.correlation", "only normal times are correlated"),
    (&["path.link.0.up.jitter={normal=\"25 h\"}"], "path.link.0.up.jitter.normal", "found 90000 s; it is at most 24 h"),
    (&["path.link.0.up.outage=[{at=\"0 s\",lasts=\"2 s\",every=\"4 s\"},{at=\"2 s\",lasts=\"2 s\",every=\"4 s\"}]"], "path.link.0.up.outage", "outages that come again, and gaps of handovers, take all the time"),
    (&["leg=[]"], "leg", "there is none; write one [[leg]]"),
    (&["leg.0.from=proxy"], "leg.0.from", "\"proxy\" is not a node; the nodes are nz-proxy, us-router, server"),
    (&["leg.0.to=proxy"], "leg.0.to", "\"proxy\" is not a node"),
    (&["leg.0.from=server", "leg.0.to=nz-proxy"], "leg.0", "goes from server to nz-proxy; a leg goes towards the servers"),
    (&["leg.0.from=us-router"], "leg.0.from", "starts at us-router, which leaves a gap; it must start at nz-proxy"),
    (&["leg.0.to=us-router"], "leg.0.to", "the last leg ends at us-router; it must end at server"),
    (&["leg.0.carrier={kind=\"mux\",connections=5}"], "leg.0.carrier.kind", "a mux ends at a proxy, and server is where the origin servers are"),
    (&["leg.0.carrier={kind=\"mux\",connections=0}"], "leg.0.carrier.connections", "found 0; it is 1 to 1000"),
    (&["leg.0.carrier={kind=\"mux\",connections=1001}"], "leg.0.carrier.connections", "found 1001; it is 1 to 1000"),
    (&["leg.0.carrier={kind=\"mux\",connections=5,overhead=\"20\"}"], "leg.0.carrier.overhead", "\"20\" is not an overhead"),
    (&["leg.0.carrier={kind=\"mux\",connections=5,assign=\"least\"}"], "leg.0.carrier.assign", "found \"least\"; it is one of \"least-outstanding\", \"round-robin\""),
    (&["leg.0.carrier={kind=\"mux\",connections=5,ties=\"last\"}"], "leg.0.carrier.ties", "found \"last\"; it is one of \"first\", \"next\""),
    (&["leg.0.carrier={kind=\"mux\"}"], "leg.0.carrier.connections", "missing; write for example connections = 50"),
    (&["leg.0.carrier={kind=\"webmux\",credit=\"0 B\"}"], "leg.0.carrier.credit", "found 0 B; it is 1 B to 2147483647 B"),
    (&["leg.0.carrier={kind=\"webmux\",credit=\"2147483648 B\"}"], "leg.0.carrier.credit", "found 2147483648 B; it is 1 B to"),
    (&["leg.0.carrier={kind=\"webmux\",write_buffer=\"7 B\"}"], "leg.0.carrier.write_buffer", "found 7 B; it is 8 B to"),
    (&["leg.0.carrier={kind=\"webmux\",read_buffer=\"0 B\"}"], "leg.0.carrier.read_buffer", "found 0 B; it is 1 B to"),
    (&["leg.0.carrier={kind=\"webmux\",fragment=\"262144 B\"}"], "leg.0.carrier.fragment", "found 262144 B; it is 1 B to 262143 B"),
    (&["leg.0.carrier={kind=\"webmux\",layout=\"1997\"}"], "leg.0.carrier.layout", "found \"1997\"; it is one of \"1996\", \"1998\""),
    (&["leg.0.carrier={kind=\"webmux\",buffer=\"1 B\"}"], "leg.0.carrier.buffer", "unknown key"),
    (&["leg.0.application={write=\"0 B\"}"], "leg.0.application.write", "found 0 B; write at least 1 B, or leave it out"),
    (&["leg.0.application={wake=\"25 h\"}"], "leg.0.application.wake", "found 90000 s; it is at most 86400 s"),
    (&["leg.0.carrier={kind=\"http/2\"}", "leg.0.application={write=\"4096 B\"}"], "leg.0.application.write", "found 4096 B; HTTP/2 writes frames as its preset says"),
    (&["leg.0.carrier={kind=\"http/2\"}", "leg.0.application={head=\"1 B\"}"], "leg.0.application.head", "found 1 B; HTTP/2 writes frames as its preset says"),
    (&["leg.0.carrier={kind=\"http/2\",tuning=\"bdp\"}"], "leg.0.carrier.tuning", "found \"bdp\"; it is one of \"none\", \"bdp-grpc\", \"bdp-hyper\", \"drain-eighth\""),
    (&["leg.0.carrier={kind=\"http/2\",credit_max=\"1 MiB\"}"], "leg.0.carrier.credit_max", "found 1048576 B, and no credit grows; write tuning"),
    (&["leg.0.carrier={kind=\"http/2\",server={credit_max=\"1 MiB\"},client={preset=\"grpc\"}}"], "leg.0.carrier.server.credit_max", "found 1048576 B, and no credit grows"),
    (&["leg.0.carrier={kind=\"http/2\",preset=\"grpc\",credit_max=\"65534 B\"}"], "leg.0.carrier.credit_max", "a stream begins with 65535 B, and grows to 65534 B"),
    (&["leg.0.carrier={kind=\"http/2\",preset=\"curl-8\",tuning=\"bdp-grpc\"}"], "leg.0.carrier.tuning", "an end lets credits grow or raises them once"),
    (&["leg.0.carrier={kind=\"http/2\",client={preset=\"dotnet\",session_credit_raised=\"1 MiB\"}}"], "leg.0.carrier.client.tuning", "an end lets credits grow or raises them once"),
    (&["leg.0.application={wakes=\"1 ms\"}"], "leg.0.application.wakes", "unknown key"),
    (&["leg.0.carrier.kind=transfer", "leg.0.tcp={profile=\"ns2-reno\"}", "leg.0.application={head=\"1 B\"}"], "leg.0.application", "a transfer has no programs at its ends; leave the table out"),
    (&[TWO_LEGS, "leg.0.carrier={kind=\"webmux\"}", "leg.0.tcp.mss=host"], "leg.0.tcp.mss", "found \"host\"; a connection between two proxies"),
    (&["leg.0.carrier={kind=\"http/1.1\",per_host=0}"], "leg.0.carrier.per_host", "found 0; it is 1 to 4294967295"),
    (&["leg.0.carrier={kind=\"http/1.1\",idle_timeout=\"0 s\"}"], "leg.0.carrier.idle_timeout", "found 0 s; write a duration above zero"),
    (&["leg.0.carrier={kind=\"http/1.0\",closed_by=\"peer\"}"], "leg.0.carrier.closed_by", "found \"peer\"; it is one of \"client\", \"server\""),
    (&["leg.0.carrier={kind=\"http/1.1\",closed_by=\"peer\"}"], "leg.0.carrier.closed_by", "found \"peer\"; it is one of \"client\", \"server\""),
    (&[TWO_LEGS, "leg.0.carrier={kind=\"mux\",connections=5}", "leg.0.tcp.mss=host"], "leg.0.tcp.mss", "found \"host\"; a connection between two proxies belongs to no host"),
    (&[TWO_LEGS, "leg.0.carrier={kind=\"http/1.1\"}", "leg.0.tcp.to.buffer=host"], "leg.0.tcp.to.buffer", "found \"host\"; a connection between two proxies"),
    (&[TWO_LEGS, "leg.1.carrier={kind=\"transfer\"}", "leg.1.tcp.profile=ns2-reno"], "leg.1.carrier.kind", "a transfer cannot go on from a proxy; write one leg"),
    (&["leg=[{from=\"nz-proxy\",to=\"server\",carrier={kind=\"http/1.0\"}},{from=\"us-router\",to=\"server\",carrier={kind=\"http/1.0\"}}]"], "leg.1.from", "starts at us-router, which leaves an overlap; it must start at server"),
    (&["path.link.0.handover={every=\"15 s\",delay=[\"-60000001 ns\",\"0 s\"]}"], "path.link.0.handover.delay", "found -60000001 ns for a link with a delay of 60 ms; write -60 ms or more"),
    (&["leg.0.tls={version=\"1.2\",start=\"0-rtt\"}"], "leg.0.tls.start", "found \"0-rtt\" beside version = \"1.2\", which has no early data; write \"resumed\""),
    (&["leg.0.tls={small_record=\"cloudflair\"}"], "leg.0.tls.small_record", "\"cloudflair\" does not start with a number; write a size as a number and a unit, for example \"32767 B\" (units: B, kB, KiB, MB, MiB, GB, GiB); or write one of \"go\", \"cloudflare\", \"h2o\", \"apache\", \"nginx\", \"boringssl\" (did you mean cloudflare?)"),
    (&["leg.0.tls={small_record=\"17 kB\"}"], "leg.0.tls.small_record", "found 17000 B; it is 1 B to 16384 B"),
    (&["leg.0.tls={key_exchange=\"x25519mlkem786\"}"], "leg.0.tls.key_exchange", "found \"x25519mlkem786\"; it is one of \"x25519\", \"secp256r1\", \"secp384r1\", \"x25519mlkem768\", \"secp256r1mlkem768\", \"secp384r1mlkem1024\", \"mlkem512\", \"mlkem768\", \"mlkem1024\" (did you mean x25519mlkem768?)"),
    (&["leg.0.tls={certificates=\"ml-dsa-66\"}"], "leg.0.tls.certificates", "found \"ml-dsa-66\"; it is one of \"ecdsa-p256\", \"ecdsa-p384\", \"rsa-2048\", \"rsa-4096\", \"ml-dsa-44\", \"ml-dsa-65\", \"ml-dsa-87\", \"fn-dsa-512\", \"fn-dsa-1024\", \"slh-dsa-128s\", \"slh-dsa-128f\", \"slh-dsa-192s\", \"slh-dsa-192f\", \"slh-dsa-256s\", \"slh-dsa-256f\", \"merkle-tree\" (did you mean ml-dsa-65?)"),
    (&["leg.0.tls={certificates=\"merkle-tree\",intermediates=1}"], "leg.0.tls.intermediates", "found 1 beside certificates = \"merkle-tree\", which the landmark of its tree vouches for alone; leave it out"),
    (&["leg.0.tls={certificates=\"merkle-tree\",scts=2}"], "leg.0.tls.scts", "found 2 beside certificates = \"merkle-tree\""),
    (&["leg.0.tls={certificates=\"merkle-tree\",ocsp=true}"], "leg.0.tls.ocsp", "found true beside certificates = \"merkle-tree\""),
    (&["leg.0.tls={version=\"1.2\",certificates=\"merkle-tree\"}"], "leg.0.tls.certificates", "found \"merkle-tree\" beside version = \"1.2\", which has no post-quantum signatures; write \"ecdsa-p256\""),
    (&["leg.0.tls={version=\"1.2\",key_exchange=\"mlkem768\"}"], "leg.0.tls.key_exchange", "found \"mlkem768\" beside version = \"1.2\", which has no ML-KEM; write \"x25519\", or version = \"1.3\""),
    (&["leg.0.tls={version=\"1.2\",certificates=\"ml-dsa-44\"}"], "leg.0.tls.certificates", "found \"ml-dsa-44\" beside version = \"1.2\", which has no post-quantum signatures; write \"ecdsa-p256\""),
    (&["leg.0.tls={version=\"1.2\",compression=0.7}"], "leg.0.tls.compression", "found 0.7 beside version = \"1.2\", which compresses no certificates (RFC 8879); leave it out"),
    (&["leg.0.tls={version=\"1.2\",suppress_intermediates=true}"], "leg.0.tls.suppress_intermediates", "found true beside version = \"1.2\", which has no flags; leave it out"),
    (&["leg.0.tls={compression=0}"], "leg.0.tls.compression", "found 0; a share of the plain message is above 0, at most 1"),
    (&["path.link.0.up.loss=1 %"], "path.link.0.up.loss", "found the text \"1 %\"; write a table with a kind, { kind = … }, one of \"none\", \"list\", \"bernoulli\", \"gilbert-elliott\"; meant may be { kind = \"bernoulli\", probability = \"1 %\" }"),
    (&["path.link.0.up.loss=0.01"], "path.link.0.up.loss", "found the number 0.01; write a table with a kind, { kind = … }, one of \"none\", \"list\", \"bernoulli\", \"gilbert-elliott\"; meant may be { kind = \"bernoulli\", probability = 0.01 }"),
    (&["leg.0.tls={compression=\"101 %\"}"], "leg.0.tls.compression", "found 1.01; a share of the plain message"),
    (&["leg.0.tls={compression=\"zlib\"}"], "leg.0.tls.compression", "found \"zlib\"; write a number from 0 to 1, or a share"),
    (&["leg.0.tls={scts=547}"], "leg.0.tls.scts", "found 547; it is 0 to 546"),
    (&["leg.0.tls={certificates=\"slh-dsa-256f\",intermediates=332}"], "leg.0.tls.intermediates", "found 332, a Certificate message of 16782869 B; its length has 24 bits: at most 16777215 B"),
    (&["leg.0.tls={intermediates=-1}"], "leg.0.tls.intermediates", "found -1; it is 0 to"),
    (&["leg.0.tls={ocsp=\"yes\"}"], "leg.0.tls.ocsp", "found the text \"yes\"; write true or false"),
    (&["leg.0.tls={intermediate=1}"], "leg.0.tls.intermediate", "unknown key"),
    (&["leg.0.tcp.mss=31 B"], "leg.0.tcp.mss", "found 31 B; an MSS is 32 B to 65495 B"),
    (&["leg.0.tcp.from.mss=65496 B"], "leg.0.tcp.from.mss", "found 65496 B; an MSS"),
    (&["leg.0.tcp.to.mss=0 B"], "leg.0.tcp.to.mss", "found 0 B; an MSS"),
    (&["leg.0.tcp.buffer=31 B"], "leg.0.tcp.buffer", "found 31 B; a buffer is at least 32 B"),
    (&["leg.0.tcp.to.buffer=0 B"], "leg.0.tcp.to.buffer", "found 0 B; a buffer"),
    (&["leg.0.tcp.constants.slow_tick=0 s"], "leg.0.tcp.constants.slow_tick", "`slow_tick` must be at least 1 ms"),
    (&["leg.0.tcp.constants.slow_tik=1 s"], "leg.0.tcp.constants.slow_tik", "unknown key (did you mean slow_tick?); farweb schema scenario lists the 41 keys here"),
    (&["leg.0.tcp.constants.idle_restart=never"], "leg.0.tcp.constants.idle_restart", "found \"never\"; it is one of \"since-received\", \"since-sent\", \"off\""),
    (&["leg.0.carrier.kind=transfer"], "leg.0.tcp.profile", "the carrier \"transfer\" has no connections; write profile = \"ns2-reno\""),
    (&["leg.0.tcp={profile=\"ns2-reno\"}"], "leg.0.carrier.kind", "the profile \"ns2-reno\" has no connections; write kind = \"transfer\""),
    (&["leg.0.carrier.kind=transfer", "leg.0.tcp={profile=\"ns2-reno\",mss=\"512 B\"}"], "leg.0.tcp.mss", "the profile \"ns2-reno\" does not have this key; set leg.0.tcp.constants.packet_size instead"),
    (&["leg.0.carrier.kind=transfer", "leg.0.tcp={profile=\"ns2-reno\",buffer=\"10 kB\"}"], "leg.0.tcp.buffer", "the profile \"ns2-reno\" does not have this key; set leg.0.tcp.constants.window instead"),
    (&["leg.0.carrier.kind=transfer", "leg.0.tcp={profile=\"ns2-reno\",to={mss=\"512 B\"}}"], "leg.0.tcp.to", "the profile \"ns2-reno\" does not have this key"),
    (&["leg.0.carrier.kind=transfer", "leg.0.tcp={profile=\"ns2-reno\",constants={tick=\"0 s\"}}"], "leg.0.tcp.constants.tick", "`tick` must be at least 1 us"),
    (&["leg.0.carrier.kind=transfer", "leg.0.tcp={profile=\"ns2-reno\",constants={slow_tick=\"1 s\"}}"], "leg.0.tcp.constants.slow_tick", "unknown key; the keys here are packet_size, headers"),
    (&["leg.0.split=[{at=\"moon\"}]"], "leg.0.split.0.at", "\"moon\" is not a node between nz-proxy and server; these are us-router"),
    (&["leg.0.split=[{at=\"nz-proxy\"}]"], "leg.0.split.0.at", "\"nz-proxy\" is not a node between nz-proxy and server; these"),
    (&["leg.0.split=[{at=\"us-router\"},{at=\"us-router\"}]"], "leg.0.split.1.at", "us-router has a split already; write each node once"),
    (&[FOUR_NODES, "leg.0.from=a", "leg.0.to=d", LINKS, "leg.0.split=[{at=\"c\"},{at=\"b\"}]"], "leg.0.split.1.at", "b is before the split above it; write each node once, in the order of path.nodes"),
    (&["leg.0.split=[{at=\"us-router\",by=\"fin\"}]"], "leg.0.split.0.by", "found \"fin\"; it is one of \"syn\", \"connect\""),
    (&["leg.0.split=[{at=\"us-router\",open=\"always\"}]"], "leg.0.split.0.open", "found \"always\"; it is one of \"each\", \"ready\""),
    (&["leg.0.split=[{at=\"us-router\",open=\"ready\"}]"], "leg.0.split.0.open", "found \"ready\", and no split is behind us-router"),
    (&["leg.0.split=[{at=\"us-router\",tls={version=\"1.3\"}}]"], "leg.0.split.0.tls", "unknown key; the keys here are at, tcp, open, by"),
    (&["leg.0.split=[{at=\"us-router\",tcp={profile=\"ns2-reno\"}}]"], "leg.0.split.0.tcp.profile", "found \"ns2-reno\", which has no connections; write \"linux\""),
    (&["leg.0.split=[{at=\"us-router\"}]", "leg.0.carrier.kind=webmux"], "leg.0.carrier.kind", "a leg with splits has the carrier \"http/1.0\", \"http/1.1\", \"http/2\" or \"mux\""),
    (&["leg.0.split=[{at=\"us-router\"}]", "cache=[{node=\"us-router\",hit_ratio=0.5}]"], "cache.0.node", "us-router is inside leg.0, which has splits; end a leg there"),
    (&["cache=[{node=\"proxy\"}]"], "cache.0.node", "\"proxy\" is not a node; the nodes are nz-proxy, us-router, server"),
    (&["cache=[{node=\"us-router\"},{node=\"us-router\"}]"], "cache.1.node", "us-router has a cache already; a node has one"),
    (&["cache=[{node=\"nz-proxy\"}]"], "cache.0.node", "requests start at nz-proxy, and a cache is behind that"),
    (&["cache=[{node=\"server\"}]"], "cache.0.node", "server is where the origin servers are"),
    (&["cache=[{node=\"us-router\",mode=\"split\"}]"], "cache.0.mode", "no leg ends at us-router; write mode = \"cut-through\""),
    (&[TWO_LEGS, "cache=[{node=\"us-router\",mode=\"cut-through\"}]"], "cache.0.mode", "found \"cut-through\", which is for a node inside a leg"),
    (&[FOUR_NODES, LINKS, MUX_TO_C, "cache=[{node=\"b\"}]"], "cache.0.mode", "a leg with caches inside opens its connections for requests"),
    (&["cache=[{node=\"us-router\",hit_ratio=1.5}]"], "cache.0.hit_ratio", "found 1.5; it is 0 to 1"),
    (&[FOUR_NODES, "leg.0.from=a", "leg.0.to=d", LINKS, "cache=[{node=\"b\",hit_ratio=0.6},{node=\"c\",hit_ratio=0.5}]"], "cache.1.hit_ratio", "shares of all client requests add up to 1.1; together they are at most 1"),
    (&["cache=[{node=\"us-router\",capacity=\"1 MB\"}]"], "cache.0.capacity", "belongs to a live cache; write a policy beside it"),
    (&["cache=[{node=\"us-router\",coalesce=false}]"], "cache.0.coalesce", "belongs to a live cache"),
    (&["cache=[{node=\"us-router\",siblings=2}]"], "cache.0.siblings", "belongs to a live cache"),
    (&["cache=[{node=\"us-router\",policy=\"lru\"}]"], "cache.0.capacity", "missing; write for example capacity = \"10 MB\""),
    (&["cache=[{node=\"us-router\",policy=\"lru\",capacity=\"0 B\"}]"], "cache.0.capacity", "found 0 B; write a size above zero"),
    (&["cache=[{node=\"us-router\",policy=\"lur\",capacity=\"1 B\"}]"], "cache.0.policy", "found \"lur\"; it is one of \"fifo\", \"lru\""),
    (&["cache=[{node=\"us-router\",policy=\"belady\",capacity=\"1 B\"}]"], "cache.0.policy", "found \"belady\", which knows the future"),
    (&["cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 B\",hit_ratio=0.5}]"], "cache.0.hit_ratio", "stands beside a policy; write one of the two"),
    (&["cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 B\",ttl=\"1 s\"}]"], "cache.0.ttl", "a cache inside a leg makes no conditional requests; end a leg"),
    (&[TWO_LEGS, "cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 B\",ttl=\"0 s\"}]"], "cache.0.ttl", "found 0 s; write 1 ns for copies that are never fresh; without the key all are fresh for ever"),
    (&["cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 B\",admit={probability=2.0}}]"], "cache.0.admit", "found probability = 2; a probability is 0 to 1"),
    (&["cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 B\",admit={min=\"2 B\",max=\"1 B\"}}]"], "cache.0.admit", "found min = 2 B and max = 1 B"),
    (&["workload={family=\"nzix\"}", "cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 B\"}]"], "cache.0.policy", "the requests of the family have no objects"),
    (&["cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 B\",siblings=0}]"], "cache.0.siblings", "found 0; it is 1 to 1000"),
    (&["workload.requests="], "workload.requests", "found an empty name"),
    (&["workload.hosts= "], "workload.hosts", "found an empty name"),
    (&["workload.speed=0"], "workload.speed", "found 0; it is 0.001 to 1000000"),
    (&["workload={family=\"nzix\",speed=2}"], "workload.speed", "the speed of a family is fixed; leave the key out"),
    (&["workload.load=4000000000"], "workload.copies_offset", "4000000000 copies, 37 s apart, would start over 292 years"),
    (&["workload.default_mss=16 B"], "workload.default_mss", "found 16 B; an MSS"),
    (&["workload.default_window=0 B"], "workload.default_window", "found 0 B; a buffer"),
    (&["workload.scale=rate", "workload.copies_hosts=renamed"], "workload.copies_hosts", "a rate has no copies; leave the key out, or write scale = \"copies\""),
    (&["clients.give_up=0 s"], "clients.give_up", "found 0 s; write a duration above zero, or leave the key out for no client timeout"),
    (&["clients.tunnels.tls=1.4"], "clients.tunnels.tls", "found the number 1.4; write a table, or \"none\""),
    (&["clients.tunnels.tls={version=\"1.4\"}"], "clients.tunnels.tls.version", "found \"1.4\"; it is one of \"1.2\", \"1.3\""),
    (&["clients.tunnels.tls={version=\"1.2\",start=\"0-rtt\"}"], "clients.tunnels.tls.start", "found \"0-rtt\" beside version = \"1.2\""),
    (&["clients.tunnels.tls={record=\"4 kB\"}"], "clients.tunnels.tls.record", "proxies pass a tunnel on byte by byte"),
    (&["clients.tunnels.tls={server_flight=\"2 MB\"}"], "clients.tunnels.tls.server_flight", "found 2000000 B; it is 1 B to 1048576 B"),
    (&["clients.tunnels.tsl={}"], "clients.tunnels.tsl", "unknown key; the keys here are tls"),
    (&["clients.give_up=25 h"], "clients.give_up", "found 90000 s; it is at most 24 h"),
    (&["run.until=0 s"], "run.until", "found 0 s; write a duration above zero"),
    (&["record.links_every=0 ms"], "record.links_every", "found 0 s; write an interval above zero"),
    (&["record.points=[]"], "record.points", "found an empty list; write where packets are seen"),
    (&["record.points=[\"ends\", \"link 2\"]"], "record.points.1", "there is no link 2; the path has links 0 to 1"),
    (&["record.points=[\"link 1 upp\"]"], "record.points.0", "\"link 1 upp\" is not a capture point; write \"ends\", \"link 0\", \"link 0 up\" or \"link 0 down\" (did you mean link 1 up?)"),
    (&["record.points=[\"end\"]"], "record.points.0", "\"end\" is not a capture point; write \"ends\", \"link 0\", \"link 0 up\" or \"link 0 down\" (did you mean ends?)"),
    (&["record.points=ends"], "record.points", "found the text \"ends\"; write a list"),
    (&["sweep.factors.\"workload.lod\"=[1, 2, 4]"], "sweep.factors.\"workload.lod\"", "workload.lod: unknown key; the keys here are requests"),
    (&["sweep.factors.\"leg.1.from\"=[\"a\"]"], "sweep.factors.\"leg.1.from\"", "leg.1.from: leg has one entry, leg.0"),
    (&["sweep.factors.\"workload.load\"=[1, 0]"], "sweep.factors.\"workload.load\"", "workload.load: found 0; it is 1 to 4294967295"),
    (&["sweep.factors.\"leg.0.tcp.mss\"=[\"1460 B\", \"16 B\"]"], "sweep.factors.\"leg.0.tcp.mss\"", "leg.0.tcp.mss: found 16 B; an MSS"),
    (&["sweep.factors.\"run.seed\"=[]"], "sweep.factors.\"run.seed\"", "there are no levels; write at least one"),
    (&["sweep.factors.\"sweep.replications\"=[1]"], "sweep.factors.\"sweep.replications\"", "a sweep cannot vary itself"),
];

/// Four nodes, and links between them.
const FOUR_NODES: &str = r#"path.nodes=["a","b","c","d"]"#;
const LINKS: &str = r#"path.link=[{up={rate="unlimited",delay="1 ms"},down={rate="1 Mbit/s",delay="1 ms"}},{up={rate="unlimited",delay="1 ms"},down={rate="1 Mbit/s",delay="1 ms"}},{up={rate="unlimited",delay="1 ms"},down={rate="1 Mbit/s",delay="1 ms"}}]"#;

/// A proxy at the router.
const TWO_LEGS: &str = "leg=[{from=\"nz-proxy\",to=\"us-router\",carrier={kind=\"http/1.0\"}},{from=\"us-router\",to=\"server\",carrier={kind=\"http/1.0\"}}]";

/// Standing connections past b to a proxy at c.
const MUX_TO_C: &str = "leg=[{from=\"a\",to=\"c\",carrier={kind=\"mux\",connections=5}},{from=\"c\",to=\"d\",carrier={kind=\"http/1.0\"}}]";

#[test]
fn each_rule_is_reported_at_its_key() {
    for (overrides, key, message) in RULES {
        let error = cable_with(overrides).unwrap_err();
        assert_eq!(error.problems.len(), 1, "{error}");
        assert_eq!(error.problems[0].key, *key);
        assert!(error.problems[0].message.starts_with(message), "{error}");
    }
}

#[test]
fn values_at_the_edge_of_a_rule_are_right() {
    for edge in [
        "path.link.0.up.delay=24 h",
        "path.link.0.up.steps=[{at=\"0 s\",rate=\"1 bit/s\"},{at=\"1 ns\",delay=\"24 h\",loss=\"100 %\"}]",
        "path.link.0.up.outage=[{at=\"0 s\",lasts=\"999999 ns\",every=\"1 ms\",mode=\"drop\"}]",
        "path.link.0.handover={every=\"1 ms\",gap=[\"0 s\",\"999999 ns\"],rate=[0.001,1000],delay=[\"-60 ms\",\"24 h\"],loss=\"100 %\",phase=\"12 s\"}",
        "path.link.0.up.variation={sigma=2,every=\"1 ms\",correlation=1}",
        "path.link.0.up.jitter={normal=\"0 s\",correlation=1}",
        "path.link.0.up.fade={clear=\"0 dB\",margin=\"2.35 dB\",report=\"1 ms\",attenuation=[{at=\"0 s\",depth=\"0 dB\"}]}",
        "path.link.0.up.loss={kind=\"bernoulli\",probability=1}",
        "path.link.0.up.loss={kind=\"list\",drop=[\"data 13..15\",\"any 4\",\"synack 1\"]}",
        "leg.0.tcp.mss=32 B",
        "leg.0.tcp.mss=65495 B",
        "leg.0.tcp.buffer=32 B",
        "leg.0.tls={version=\"1.2\",key_exchange=\"secp384r1\",certificates=\"rsa-4096\",ocsp=true,scts=546,intermediates=0}",
        "leg.0.tls={compression=1,key_exchange=\"secp384r1mlkem1024\",certificates=\"slh-dsa-256f\",suppress_intermediates=true}",
        "leg.0.tls={certificates=\"slh-dsa-256f\",intermediates=331}",
        "leg.0.tls={certificates=\"merkle-tree\",compression=0.9}",
        "run.seed=9007199254740992",
        "run.until=1 ns",
        "record.points=[\"link 1\", \"ends\", \"link 0 up\", \"link 0 down\"]",
    ] {
        assert!(cable_with(&[edge]).is_ok(), "{edge}");
    }
    let waiting = ["path.link.0.up.queue=0 packets", "path.link.0.up.queue_counts=waiting"];
    assert!(cable_with(&waiting).is_ok());
    for edge in [
        "leg.0.carrier={kind=\"mux\",connections=1}",
        "leg.0.carrier={kind=\"mux\",connections=1000,overhead=\"2 %\",assign=\"round-robin\",ties=\"next\"}",
        "leg.0.carrier={kind=\"mux\",connections=50,overhead=\"none\"}",
        "leg.0.carrier={kind=\"http/1.1\",idle_timeout=\"1 ns\",per_host=1,total=1,closed_by=\"server\"}",
        "leg.0.tcp.mss=host",
        "leg.1.carrier={kind=\"http/1.1\"}",
        "leg.1.carrier={kind=\"webmux\",credit=\"1 B\",write_buffer=\"8 B\",read_buffer=\"1 B\",fragment=\"1 B\",layout=\"1998\"}",
        "leg.0.carrier={kind=\"webmux\",fragment=\"262143 B\"}",
        "leg.0.application={wake=\"24 h\",write=\"1 B\",head=\"1 B\"}",
    ] {
        assert!(cable_with(&[TWO_LEGS, edge]).is_ok(), "{edge}");
    }
    assert!(cable_with(&["leg.0.carrier={kind=\"http/1.1\"}", "leg.0.tcp.buffer=host"]).is_ok());
    for edge in [
        "cache=[{node=\"us-router\",hit_ratio=0}]",
        "cache=[{node=\"us-router\",hit_ratio=1}]",
        "cache=[{node=\"us-router\",mode=\"store-and-forward\",policy=\"s3-fifo\",capacity=\"1 B\",ttl=\"1 ns\"}]",
        "cache=[{node=\"us-router\",policy=\"w-tinylfu\",capacity=\"1 GB\",admit={probability=0,second_hit=true}}]",
    ] {
        assert!(cable_with(&[TWO_LEGS, edge]).is_ok(), "{edge}");
    }
    let live = "cache=[{node=\"us-router\",policy=\"lru\",capacity=\"1 MB\"}]";
    assert!(cable_with(&["workload={family=\"prowgen\"}", live]).is_ok());
    let shares = "cache=[{node=\"b\",hit_ratio=0.9},{node=\"c\",hit_ratio=0.1}]";
    assert!(cable_with(&[FOUR_NODES, "leg.0.from=a", "leg.0.to=d", LINKS, shares]).is_ok());
}

#[test]
fn a_path_of_too_many_nodes_is_refused() {
    let nodes: Vec<_> = (0..256).map(|n| format!("\"n{n}\"")).collect();
    let error = cable_with(&[&format!("path.nodes=[{}]", nodes.join(","))]).unwrap_err().to_string();
    assert!(error.contains("path.nodes: found 256 nodes; a path has 2 to 255 nodes"), "{error}");
}
