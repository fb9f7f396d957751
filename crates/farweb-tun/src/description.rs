//! Description of a talk, as its JSON file has it: our endpoint, the path, our application.

use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::str::FromStr;

use farweb::http::h2::endpoint::{Config, Role};
use farweb::http::h2::preset::Preset;
use farweb::net::{ListedPackets, Loss};
use farweb::scenario::QueueLimit;
use farweb::tcp::{Overrides, ProfileName};
use farweb::units::{BitRate, Bytes, Duration};
use serde::Deserialize;

/// A talk of our endpoint with the kernel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Talk {
    /// Name of the TUN device.
    pub(crate) device: String,
    /// Address of our endpoint. A server listens on its port. It has to be routed to the device.
    pub(crate) address: SocketAddrV4,
    /// Where our endpoint connects to. Without it, it is a server.
    pub(crate) connect: Option<SocketAddrV4>,
    /// Constants of our TCP.
    pub(crate) tcp: Tcp,
    /// From the client to the server.
    #[serde(default)]
    pub(crate) up: Way,
    /// From the server to the client.
    #[serde(default)]
    pub(crate) down: Way,
    /// Our application on each connection.
    pub(crate) application: Application,
    /// Root of the random numbers: where sequence numbers begin, the phases of timers, random losses.
    pub(crate) seed: u64,
    /// Number of our SYN, where that must not be random.
    pub(crate) first_number: Option<u32>,
    /// Folder for `kernel.pcap` and `farweb.pcap`, what each end sees.
    pub(crate) captures: Option<PathBuf>,
    /// Bytes of each packet that captures have.
    #[serde(default = "headers")]
    pub(crate) snapshot: Bytes,
    /// When to stop whatever happens.
    pub(crate) deadline: Duration,
}

/// The longest headers of IPv4 and TCP, and some payload.
const fn headers() -> Bytes {
    Bytes::new(160)
}

/// Our endpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tcp {
    /// Name of the profile.
    pub(crate) profile: ProfileName,
    /// Constants with other values than the profile has.
    #[serde(default)]
    pub(crate) constants: Overrides,
    /// MSS that is offered, at most 1460 B behind a device with an MTU of 1500.
    pub(crate) mss: Bytes,
    /// Send and receive buffer. Without it, as the profile has them.
    pub(crate) buffer: Option<Bytes>,
}

/// One direction of the path.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Way {
    /// Rate of the transmitter. Without one nothing waits.
    pub(crate) rate: Option<BitRate>,
    /// Propagation delay.
    pub(crate) delay: Option<Duration>,
    /// Limit of the queue. Without one it is unlimited.
    pub(crate) queue: Option<QueueLimit>,
    /// Packets that are lost.
    pub(crate) loss: Loss,
    /// Packets that arrive later than the link would deliver them, and are so overtaken.
    pub(crate) late: Vec<Late>,
    /// Packets that arrive twice, one copy right after the other.
    pub(crate) twice: Vec<ListedPackets>,
}

/// Packets that are held up.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Late {
    /// Which.
    pub(crate) packets: ListedPackets,
    /// By how much.
    pub(crate) by: Duration,
}

/// Our application on each connection.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Application {
    /// Steps one after the other, in each of several lists that run side by side, as threads of a process would.
    Script(Vec<Vec<Step>>),
    /// Serves the files of a folder by HTTP/1.0 and HTTP/1.1.
    HttpServer(PathBuf),
    /// Fetches files by HTTP.
    HttpClient(Fetch),
    /// Serves the files of a folder by HTTP/2.
    Http2Server(ServeHttp2),
    /// Fetches files by HTTP/2.
    Http2Client(FetchHttp2),
}

/// Requests of an HTTP client, over one connection.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fetch {
    /// Paths, one after the other.
    pub(crate) paths: Vec<String>,
    /// `1.0` or `1.1`.
    pub(crate) version: String,
    /// Folder that keeps the n-th body as `n`, from 0.
    pub(crate) save: PathBuf,
}

/// Responses of an HTTP/2 server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServeHttp2 {
    /// Folder of the files.
    pub(crate) folder: PathBuf,
    /// How it speaks.
    pub(crate) end: Http2End,
}

/// Requests of an HTTP/2 client, over one connection.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchHttp2 {
    /// Paths, all at once as far as the server allows.
    pub(crate) paths: Vec<String>,
    /// Folder that keeps the n-th body as `n`, from 0.
    pub(crate) save: PathBuf,
    /// How it speaks.
    pub(crate) end: Http2End,
}

/// An end of an HTTP/2 connection.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Http2End {
    /// Program that it speaks as.
    pub(crate) preset: Preset,
    /// Credit of a stream, instead of that program's.
    pub(crate) stream_credit: Option<Bytes>,
}

impl Http2End {
    /// Settings of the endpoint.
    pub(crate) fn config(self, role: Role) -> Config {
        let mut config = self.preset.config(role);
        config.credit.stream = self.stream_credit.map_or(config.credit.stream, Bytes::get);
        config
    }
}

/// A step of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Writes so many bytes of the pattern.
    Write(u64),
    /// Writes the pattern until a reset comes.
    WriteToReset,
    /// Reads so many bytes and compares them with the pattern.
    Read(u64),
    /// Reads to the end of the stream, likewise.
    ReadToEnd,
    /// Reads until a reset comes, likewise.
    ReadToReset,
    /// Waits.
    Wait(Duration),
    /// Ends our stream.
    Shutdown,
    /// Closes in both directions.
    Close,
    /// Gives the connection up.
    Abort,
}

/// A text that is no step.
#[derive(Debug, thiserror::Error)]
#[error(
    "\"{text}\" is no step{problem}; write \"write SIZE\", \"write reset\", \"read SIZE\", \"read end\", \"read reset\", \
     \"wait DURATION\", \"shutdown\", \"close\" or \"abort\""
)]
pub(crate) struct StepError {
    text: String,
    problem: String,
}

impl FromStr for Step {
    type Err = StepError;

    fn from_str(text: &str) -> Result<Self, StepError> {
        let fail = |problem: String| StepError { text: text.to_owned(), problem };
        let size = |size: &str| match size.parse::<Bytes>() {
            Ok(bytes) => Ok(bytes.get()),
            Err(problem) => Err(fail(format!(": {problem}"))),
        };
        let (verb, object) = text.split_once(' ').unwrap_or((text, ""));
        match (verb, object) {
            ("write", "reset") => Ok(Self::WriteToReset),
            ("write", bytes) => size(bytes).map(Self::Write),
            ("read", "end") => Ok(Self::ReadToEnd),
            ("read", "reset") => Ok(Self::ReadToReset),
            ("read", bytes) => size(bytes).map(Self::Read),
            ("wait", span) => span.parse().map(Self::Wait).map_err(|problem| fail(format!(": {problem}"))),
            ("shutdown", "") => Ok(Self::Shutdown),
            ("close", "") => Ok(Self::Close),
            ("abort", "") => Ok(Self::Abort),
            _ => Err(fail(String::new())),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
