//! Tables of a draft that stand by themselves: caches, clients, origin, workload.

use super::whole::comment;
use super::{Asked, Level, Release, Sharing, Writer};

impl Writer<'_> {
    pub(super) fn caches(&self) -> String {
        let levels = [("cache", &self.draft.cache), ("far-end", &self.draft.shield)];
        let table = |(node, level): (&str, &Option<Level>)| {
            let Level { capacity, policy } = level.as_ref()?;
            Some(format!("[[cache]]\nnode = \"{node}\"\npolicy = \"{policy}\"\ncapacity = \"{capacity}\"\n"))
        };
        let tables: Vec<String> = levels.into_iter().filter_map(table).collect();
        if tables.is_empty() {
            return String::new();
        }
        format!(
            "# A copy that is held serves, but methods and responses for which none may. ttl bounds the age of a copy.\n{}\n",
            tables.join("\n")
        )
    }
}

impl Sharing {
    pub(super) fn text(&self) -> String {
        let Self { share, seen_at, about, has_tunnels } = self;
        let tunnels = if *has_tunnels { TUNNELS } else { "" };
        format!(
            "# {about}\n# \"each\" and \"all\" choose; --seen-at {seen_at} wrote this.\n[clients]\nshare = \"{share}\"\n\n{tunnels}"
        )
    }
}

const TUNNELS: &str = r#"# TLS inside tunnels (CONNECT), between a client and its server: handshakes go over the whole path. Without this table a
# tunnel is one transfer of all its bytes.
[clients.tunnels]
tls = { version = "1.3" }

"#;

impl Release {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Paced => {
                r#"# A response comes spread over the time that its server took, where the workload has it.
[origin]
release = "paced"
"#
            }
            Self::AfterWait => {
                r#"# A response is there when its server has waited as long as the log says it did for the first byte, and TCP makes the
# transfer. Pages that were sent while they were made come too early: release = "paced" spreads them as the log does.
[origin]
release = "after-wait"
"#
            }
            Self::Delayed => {
                r#"# A response is there, whole, when its server has taken its time.
[origin]
release = "delayed"
"#
            }
        }
    }
}

impl Asked {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Nzix => r#"# Ten minutes of the web of 1997, to try the scenario with. With a log of your own:
#   farweb new FILE --log access.log
[workload]
family = "nzix"
"#
            .to_owned(),
            Self::Prowgen => r#"# Requests of a proxy's clients by the model ProWGen, to try the scenario with: a fiftieth of its 5,000,000. With a log:
#   farweb new FILE --cache SIZE --log access.log
[workload]
family = "prowgen"
parameters = { requests = 100_000 }
"#
            .to_owned(),
            Self::Web => r#"# 400 requests of 40 clients to 12 servers, by the model ProWGen: enough to see what a path does, quick enough to turn knobs
# (chosen). With a log of your own: farweb new FILE --log access.log
[workload]
family = "prowgen"
parameters = { requests = 400, arrival_rate = 2.0, hosts = 12, clients = 40, response_max = "2 MB", server_median = "60 ms" }
"#
            .to_owned(),
            Self::Table { requests } | Self::Page { requests } => {
                format!("[workload]\nrequests = {}\n", toml_edit::Value::from(requests.as_str()))
            }
            Self::Log { origin, requests, hosts } => format!(
                r#"{}# Hosts are those of the log; fill in what you know of their MSS and windows (farweb workload probe finds
# them), and write mss = "host", buffer = "host" on the leg to the servers.
[workload]
requests = {}
hosts = {}
"#,
                comment(origin),
                toml_edit::Value::from(requests.as_str()),
                toml_edit::Value::from(hosts.as_str())
            ),
        }
    }
}
