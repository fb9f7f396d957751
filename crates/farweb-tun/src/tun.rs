//! The TUN device: a network interface of the kernel with this process on its other side.
//!
//! The device has to be there, with its address, and down (`ip tuntap add mode tun`): it is brought up here once somebody is
//! attached to it. A device that is up before gets its queue only some time after, and until then the kernel
//! silently drops its packets. Needs the right to administer the network, and iproute2. Packets are whole IP packets
//! without a header of the device, and as no offload is asked for, the kernel computes every checksum and sends nothing
//! longer than the MTU.
//!
//! Source: Linux, `Documentation/networking/tuntap.rst` and `include/uapi/linux/if_tun.h`.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::ioctl::{Setter, ioctl, opcode};

/// Packets of a TUN device, not of a TAP (`IFF_TUN`).
const IFF_TUN: i16 = 0x0001;
/// No header of the device before a packet (`IFF_NO_PI`).
const IFF_NO_PI: i16 = 0x1000;
/// Length of the name of an interface with its final zero (`IFNAMSIZ`).
const NAME_BYTES: usize = 16;

/// Argument of `TUNSETIFF` (`struct ifreq`), 40 bytes on a machine of 64 bits.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; NAME_BYTES],
    flags: i16,
    unused: [u8; 22],
}

/// A TUN device with this process attached. Reading does not wait.
#[derive(Debug)]
pub(crate) struct Tun {
    file: File,
}

impl Tun {
    /// Attaches to the device `name` and brings it up.
    pub(crate) fn attach(name: &str) -> io::Result<Self> {
        let mut request =
            InterfaceRequest { name: [0; NAME_BYTES], flags: IFF_TUN | IFF_NO_PI, unused: [0; 22] };
        if name.len() >= NAME_BYTES {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                format!("{name} is no name of an interface"),
            ));
        }
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        let file = OpenOptions::new().read(true).write(true).open("/dev/net/tun")?;
        set_interface(&file, request)?;
        fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::NONBLOCK)?;
        let up = Command::new("ip").args(["link", "set", "dev", name, "up"]).output()?;
        if !up.status.success() {
            return Err(io::Error::other(format!("ip link set up: {}", String::from_utf8_lossy(&up.stderr))));
        }
        Ok(Self { file })
    }

    /// The next packet from the kernel, in `buffer`. `None` when there is none yet.
    pub(crate) fn receive<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match self.file.read(buffer) {
            Ok(bytes) => Ok(Some(&buffer[..bytes])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the kernel.
    pub(crate) fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.file.write_all(packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Calls `TUNSETIFF`: no safe interface to it is at hand but in crates that bring a whole network configuration.
#[allow(unsafe_code, reason = "an ioctl is unsafe whatever it does")]
fn set_interface(file: &File, request: InterfaceRequest) -> io::Result<()> {
    const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<i32>(b'T', 202);
    // SAFETY: the number is TUNSETIFF's in `if_tun.h`. Its argument is a `struct ifreq`, the layout of
    // `InterfaceRequest`. The kernel only reads it.
    unsafe { ioctl(file, Setter::<TUNSETIFF, InterfaceRequest>::new(request)) }?;
    Ok(())
}
