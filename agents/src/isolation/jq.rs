//! Owns the evaluation of jq programs that models write, each in a process of its own.

use diorama_baselines::jq::{JqError, JqRunner, Program};
use serde_json::Value as Json;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use super::bounds::Bounds;
use super::process::Isolation;
use super::worker::{Reply, Request, read_reply, write_request};

/// Bounds of one program. A program that a person would write takes milliseconds.
const BOUNDS: Bounds = Bounds { document_seconds: 2, document_memory: 512 };

impl JqRunner for Isolation {
    fn run(&self, program: &Program, input: &Json) -> Result<Vec<Json>, JqError> {
        let request = Request::Jq { program: program.clone(), input: input.clone() };
        let ask = || self.ask(write_request(&request, &[]), BOUNDS);
        // While this task waits, the runtime moves the other tasks of its thread to another one. Only
        // runtimes of several threads can do that.
        let is_multi_thread =
            Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        let reply = if is_multi_thread { block_in_place(ask) } else { ask() };
        let reply = reply.map_err(|ended| JqError::Stopped(ended.reason))?;
        match read_reply(&reply) {
            Ok((Reply::Outputs(outputs), _)) => outputs,
            Ok(_) => Err(JqError::Stopped("its process answered something else".to_owned())),
            Err(nonsense) => Err(JqError::Stopped(nonsense)),
        }
    }
}
