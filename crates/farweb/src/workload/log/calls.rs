//! Calls inside of a service mesh, which two sidecars log: the caller's (`outbound`) and the server's (`inbound`).
//!
//! Both lines have one request id, method, host and URL. The caller's stands for the request: its time has the network between both. In a chain
//! of services that passes one id on, each call has a host of its own.

use rustc_hash::FxHashSet;

use super::record::Record;
use super::values;
use crate::workload::ObjectId;

/// Beginnings of Envoy's names for the server beside it: Istio's, Consul's, App Mesh's.
const INBOUND: [&[u8]; 4] = [b"inbound|", b"InboundPassthroughCluster", b"local_app", b"cds_ingress_"];

/// Calls that a caller's sidecar logs.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(FxHashSet<ObjectId>);

impl Calls {
    /// Takes a line of a caller's side.
    pub(super) fn add(&mut self, record: &Record<'_>) {
        if let Some((false, call)) = side(record) {
            self.0.insert(call);
        }
    }

    /// True if a line is of the server's side, and the caller's is there too.
    pub(super) fn has_caller_of(&self, record: &Record<'_>) -> bool {
        !self.0.is_empty()
            && side(record).is_some_and(|(is_inbound, call)| is_inbound && self.0.contains(&call))
    }
}

/// True for the server's side of a call, and the call; `None` for lines that no sidecar wrote, or without an id.
fn side(record: &Record<'_>) -> Option<(bool, ObjectId)> {
    let (cluster, id) = (record.cluster.as_deref()?, record.request_id.as_deref()?);
    let (method, url) = (record.method.as_deref()?, record.url.as_deref()?);
    let host = record.host.as_deref().and_then(values::host).unwrap_or_default();
    let call = ObjectId::of_bytes(&[id, method, host, url].join(&b' '));
    Some((INBOUND.iter().any(|name| cluster.starts_with(name)), call))
}
