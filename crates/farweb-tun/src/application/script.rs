//! Lists of steps that run side by side, as threads with a blocking socket would. Then the connection is closed.

use std::collections::VecDeque;

use farweb::tcp::CloseReason;
use farweb::units::Instant;

use crate::content::pattern;
use crate::description::Step;
use crate::endpoint::Socket;

/// Bytes of the pattern that are made at a time: a socket buffer of usual size.
const PIECE: u64 = 65536;

/// The script of a connection.
#[derive(Debug)]
pub(crate) struct Script {
    threads: Vec<Thread>,
    written: u64,
    read: u64,
    closed: bool,
}

/// A list of steps.
#[derive(Debug)]
struct Thread {
    steps: VecDeque<Step>,
    /// Bytes of the first step that are done.
    progress: u64,
    /// When the wait that is the first step is over.
    wake: Option<Instant>,
    problem: Option<String>,
}

/// How far a step has come.
enum Progress {
    Done,
    Waiting,
    Failed(String),
}

impl Script {
    pub(crate) fn new(lists: &[Vec<Step>]) -> Self {
        let thread = |steps: &Vec<Step>| Thread {
            steps: steps.iter().copied().collect(),
            progress: 0,
            wake: None,
            problem: None,
        };
        Self { threads: lists.iter().map(thread).collect(), written: 0, read: 0, closed: false }
    }

    pub(crate) fn advance(&mut self, socket: &mut Socket) {
        if !socket.is_connected() && socket.closed().is_none() {
            return;
        }
        for index in 0..self.threads.len() {
            while self.advance_thread(index, socket) {}
        }
        if self.is_done() && !self.closed {
            self.closed = true;
            socket.close();
        }
    }

    /// True when a step was done, and the next one may be looked at.
    fn advance_thread(&mut self, index: usize, socket: &mut Socket) -> bool {
        let thread = &self.threads[index];
        let Some(step) = thread.steps.front().copied() else { return false };
        if thread.problem.is_some() {
            return false;
        }
        match self.take_step(index, step, socket) {
            Progress::Done => {
                let thread = &mut self.threads[index];
                thread.steps.pop_front();
                thread.progress = 0;
                true
            }
            Progress::Waiting => false,
            Progress::Failed(problem) => {
                self.threads[index].problem = Some(format!("{step:?}: {problem}"));
                false
            }
        }
    }

    fn take_step(&mut self, index: usize, step: Step, socket: &mut Socket) -> Progress {
        match step {
            Step::Write(bytes) => self.write(index, bytes, socket),
            Step::WriteToReset => match self.write(index, u64::MAX, socket) {
                Progress::Failed(_) if is_reset(socket) => Progress::Done,
                progress => progress,
            },
            Step::Read(bytes) => self.read(index, bytes, socket),
            Step::ReadToEnd | Step::ReadToReset => self.read_all(step, socket),
            Step::Wait(span) => {
                let wake = *self.threads[index].wake.get_or_insert(socket.now + span);
                if socket.now < wake {
                    return Progress::Waiting;
                }
                self.threads[index].wake = None;
                Progress::Done
            }
            Step::Shutdown => {
                socket.shutdown();
                Progress::Done
            }
            Step::Close => {
                socket.close();
                Progress::Done
            }
            Step::Abort => {
                socket.abort();
                Progress::Done
            }
        }
    }

    fn write(&mut self, index: usize, bytes: u64, socket: &mut Socket) -> Progress {
        while self.threads[index].progress < bytes {
            if let Some(reason) = socket.closed() {
                return Progress::Failed(format!("{reason:?} after {} B", self.threads[index].progress));
            }
            let rest = bytes - self.threads[index].progress;
            let piece: Vec<u8> = (self.written..self.written + rest.min(PIECE)).map(pattern).collect();
            let written = socket.write(&piece) as u64;
            if written == 0 {
                return Progress::Waiting;
            }
            self.written += written;
            self.threads[index].progress += written;
        }
        Progress::Done
    }

    fn read(&mut self, index: usize, bytes: u64, socket: &mut Socket) -> Progress {
        let rest = bytes - self.threads[index].progress;
        let read = match self.read_and_compare(rest, socket) {
            Ok(read) => read,
            Err(problem) => return Progress::Failed(problem),
        };
        self.threads[index].progress += read;
        if read == rest {
            return Progress::Done;
        }
        let got = self.threads[index].progress;
        if socket.is_at_end() {
            return Progress::Failed(format!("the stream ended after {got} B"));
        }
        match socket.closed() {
            Some(reason) => Progress::Failed(format!("{reason:?} after {got} B")),
            None => Progress::Waiting,
        }
    }

    /// Reads all there is, until the stream ends or is reset, as `step` says.
    fn read_all(&mut self, step: Step, socket: &mut Socket) -> Progress {
        if let Err(problem) = self.read_and_compare(u64::MAX, socket) {
            return Progress::Failed(problem);
        }
        match (step, socket.is_at_end(), socket.closed()) {
            (Step::ReadToReset, _, _) if is_reset(socket) => Progress::Done,
            (Step::ReadToEnd, true, _) => Progress::Done,
            (_, _, Some(reason)) => Progress::Failed(format!("{reason:?}")),
            (_, _, None) => Progress::Waiting,
        }
    }

    /// Reads up to `limit` bytes, checks them against the pattern and returns their number.
    fn read_and_compare(&mut self, limit: u64, socket: &mut Socket) -> Result<u64, String> {
        let bytes = socket.read(limit);
        let wrong = (self.read..).zip(&bytes).find(|(offset, byte)| pattern(*offset) != **byte);
        if let Some((offset, byte)) = wrong {
            return Err(format!("byte {offset} is {byte:#04x} where {:#04x} was written", pattern(offset)));
        }
        self.read += bytes.len() as u64;
        Ok(bytes.len() as u64)
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.threads.iter().filter_map(|thread| thread.wake).min()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.threads.iter().all(|thread| thread.steps.is_empty() || thread.problem.is_some())
    }

    /// How each list ended.
    pub(crate) fn outcomes(self) -> Vec<String> {
        let outcome = |thread: Thread| match (thread.problem, thread.steps.front()) {
            (Some(problem), _) => problem,
            (None, Some(step)) => format!("{step:?}: not done"),
            (None, None) => "done".to_owned(),
        };
        self.threads.into_iter().map(outcome).collect()
    }
}

/// True when the peer has reset the connection.
const fn is_reset(socket: &Socket) -> bool {
    matches!(socket.closed(), Some(CloseReason::Reset))
}
