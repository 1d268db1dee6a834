//! Owns the body of a response: whole, or cut after its start.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// The text of a response.
pub(crate) struct Reply {
    text: Option<Bytes>,
    cut: bool,
}

impl Reply {
    pub(crate) fn whole(text: String) -> Self {
        Self { text: Some(text.into()), cut: false }
    }

    /// Makes a body after whose text the connection ends.
    pub(crate) fn cut(text: String) -> Self {
        Self { text: Some(text.into()), cut: true }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(match self.text.take() {
            Some(text) => Some(Ok(Frame::data(text))),
            None if self.cut => Some(Err(Cut)),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.text.is_none() && !self.cut
    }

    fn size_hint(&self) -> SizeHint {
        match &self.text {
            Some(text) if !self.cut => SizeHint::with_exact(text.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

/// Error that makes hyper close the connection.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the connection is cut, as the script says")
    }
}

impl std::error::Error for Cut {}
