//! Owns the replies on their way out: the count of their unsent bytes, and the limit of writes without
//! progress.

use std::fmt::Debug;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::connections::Connection;
use diorama_sessions::{Scale, UnsentReply};

/// Minimum length of a counted reply, in bytes. The limit of connections bounds shorter ones.
const COUNTED_BYTES: u64 = 16 << 10;

/// Marks a response whose body is part of a world and needs no memory of its own.
#[derive(Clone, Copy)]
pub(in crate::http) struct OfWorld;

/// Body of a response. It counts until its last byte is written or dropped.
pub(super) struct Outgoing {
    body: Body,
    unsent: Option<Arc<UnsentReply>>,
}

impl Outgoing {
    /// Returns a response whose body counts from now on.
    pub(super) fn response(mut response: Response<Body>, scale: &Arc<Scale>) -> Response<Self> {
        let of_world = response.extensions_mut().remove::<OfWorld>().is_some();
        response.map(|body| {
            let bytes = body.size_hint().lower();
            let counted = bytes >= COUNTED_BYTES && !of_world;
            Self { body, unsent: counted.then(|| Arc::new(UnsentReply::new(Arc::clone(scale), bytes))) }
        })
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(unsent) = &self.unsent else { return Poll::Ready(frame) };
        // The connection holds the bytes until they are written, even after the body was dropped.
        let counted = |bytes| Bytes::from_owner(CountedBytes { bytes, _unsent: Arc::clone(unsent) });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(counted))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes of a reply, with their counter.
struct CountedBytes {
    bytes: Bytes,
    _unsent: Arc<UnsentReply>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Connection whose writes end after some time without progress.
pub(super) struct Socket {
    stream: TokioIo<TcpStream>,
    connection: Arc<Connection>,
    limit: Duration,
    /// Timer of the current write.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, connection: Arc<Connection>, limit: Duration) -> Self {
        Self { stream: TokioIo::new(stream), connection, limit, waiting: None }
    }

    /// Returns the result of a write, or an error after it has waited too long.
    fn in_time<T: Debug>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.waiting.take().is_some() {
                self.connection.set_writing(false);
            }
            return written;
        }
        let (limit, connection) = (self.limit, &self.connection);
        let wait = || {
            connection.set_writing(true);
            Box::pin(sleep(limit))
        };
        ready!(self.waiting.get_or_insert_with(wait).as_mut().poll(context));
        // The operating system then also discards the unsent bytes for this peer.
        let _ = self.stream.inner().set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.in_time(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.in_time(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
