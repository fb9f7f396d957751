//! Endpoints of every profile, their constants and their applications, from bytes.

use arbitrary::{Arbitrary, Result, Unstructured};
use farweb::tcp::{Config, HostClock, Options, Overrides, Profile, ProfileName, Random, Timestamps};
use farweb::units::Duration;
use serde_json::{Value, json};

/// Every profile of connections.
const PROFILES: [ProfileName; 4] =
    [ProfileName::Bsd44Lite, ProfileName::Linux, ProfileName::LinuxClassic, ProfileName::Solaris25];

/// Sizes of buffers: from less than a segment to more than an unscaled window.
const BUFFERS: [u64; 7] = [64, 500, 4096, 8192, 32_767, 70_000, 200_000];

/// Parts of an endpoint.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Profile, MSS and buffers.
    pub config: Config,
    /// Phases of its host's clock.
    pub host: HostClock,
}

impl<'a> Arbitrary<'a> for Endpoint {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let size = *u.choose(&BUFFERS)?;
        let send = *u.choose(&BUFFERS)?;
        let mss = *u.choose(&[32, 216, 512, 536, 1024, 1460, 8960])?;
        let config =
            Config { profile: profile(u)?, mss, send_buffer: Some(send), receive_buffer: Some(size), random: Random::default() };
        let millis = |u: &mut Unstructured<'a>, end| u.int_in_range(0..=end).map(Duration::from_millis);
        let host =
            HostClock { slow_phase: millis(u, 499)?, fast_phase: millis(u, 199)?, uptime: millis(u, 9999)? };
        Ok(Self { config, host })
    }
}

fn profile(u: &mut Unstructured<'_>) -> Result<Profile> {
    let name = *u.choose(&PROFILES)?;
    let mut constants = Overrides::default();
    for (constant, values) in varied(name) {
        let value = u.choose(&values)?;
        constants.0.insert(constant.to_owned(), value.clone());
    }
    let profile = name.profile().with(&constants).expect("the constants are those of the profile");
    profile.check().expect("the constants are in range");
    Ok(profile)
}

/// Constants that change the segments sent, with values to choose from, and constants that keep a connection alive over
/// any loss.
fn varied(name: ProfileName) -> Vec<(&'static str, Vec<Value>)> {
    let either = || vec![json!(false), json!(true)];
    match name {
        ProfileName::Bsd44Lite | ProfileName::Solaris25 => vec![
            ("timestamps", either()),
            ("window_scaling", either()),
            ("nagle", either()),
            ("delayed_ack", either()),
            ("delayed_ack_on_grid", either()),
            ("ack_on_read", either()),
            ("nagle_each_segment", either()),
            ("join_writes", either()),
            ("ack_every", vec![json!(0), json!(1), json!(2), json!(7)]),
            ("deflate_at_threshold", either()),
            ("socket_small_pieces", either()),
            ("header_prediction", vec![json!("lite"), json!("fixed")]),
            ("socket_cluster", vec![json!("0 B"), json!("1024 B"), json!("2048 B")]),
            ("initial_cwnd_segments", vec![json!(1), json!(2), json!(4)]),
            ("retries_max", vec![json!(200)]),
            ("connect_timeout", vec![json!("1 h")]),
            ("msl", vec![json!("1 h")]),
        ],
        ProfileName::Linux => [lasting(), linux()].concat(),
        ProfileName::LinuxClassic => lasting(),
        ProfileName::Ns2Reno => vec![],
    }
}

/// Constants that change what Linux sends.
fn linux() -> Vec<(&'static str, Vec<Value>)> {
    let either = [
        "timestamps",
        "window_scaling",
        "sack",
        "dsack",
        "rack",
        "tail_loss_probe",
        "frto",
        "nagle",
        "quick_ack_always",
        "slow_start_after_idle",
    ];
    let mut all: Vec<_> = either.into_iter().map(|name| (name, vec![json!(true), json!(false)])).collect();
    all.push(("hystart", vec![json!("linux"), json!("off"), json!("plus-plus")]));
    all.push(("congestion_control", vec![json!("cubic"), json!("reno"), json!("bbr")]));
    all.push(("pacing", vec![json!("auto"), json!("internal"), json!("none")]));
    all.push(("ecn", vec![json!("off"), json!("accept"), json!("request")]));
    all.push(("initial_cwnd_segments", vec![json!(10), json!(1), json!(3)]));
    all
}

/// Constants that keep a connection of Linux alive over any loss.
fn lasting() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("syn_retries", vec![json!(127)]),
        ("synack_retries", vec![json!(255)]),
        ("retries_max", vec![json!(255)]),
        ("fin_wait_2_timeout", vec![json!("1 h")]),
        ("time_wait", vec![json!("1 h")]),
    ]
}

/// Options of a segment, without SACK blocks.
///
/// # Errors
/// When there are no more bytes.
pub fn options(u: &mut Unstructured<'_>) -> Result<Options> {
    let timestamps = match u.arbitrary::<Option<(u8, u8)>>()? {
        Some((value, echo)) => Some(Timestamps { value: u32::from(value), echo: u32::from(echo) }),
        None => None,
    };
    let (mss, window_scale) = (u.arbitrary()?, u.arbitrary()?);
    Ok(Options { mss, window_scale, timestamps, sack_permitted: u.arbitrary()?, ..Options::NONE })
}
