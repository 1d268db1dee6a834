"""Diorama's tasks for verl: an agent loop with a session for each request, whose reward is the session's grade.

    # loops.yaml, which `actor_rollout_ref.rollout.agent.agent_loop_config_path` names
    - name: diorama
      _target_: diorama_worlds.verl.DioramaAgentLoop
      server: http://127.0.0.1:8080

Rows are those of `dataset export --format verl`, with `diorama` as their `agent_name`; `extra_info.seed` fixes an episode. Tokens, turns
and limits are those of verl's own ToolAgentLoop, which this is; what it adds is where the tools and the reward come from. Written for
verl 0.9.
"""

from __future__ import annotations

import asyncio
import functools
import json
from typing import Any

from verl.experimental.agent_loop.agent_loop import AgentLoopOutput
from verl.experimental.agent_loop.tool_agent_loop import AgentData, AgentState, ToolAgentLoop
from verl.tools.function_tool import FunctionTool
from verl.tools.schemas import OpenAIFunctionToolSchema

from ._sessions import Client, Session

FINISH = "finish"
ASK_USER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "ask_user",
        "description": "Asks the user for something that they have not told.",
        "parameters": {
            "type": "object",
            "properties": {"question": {"type": "string", "description": "The question."}},
            "required": ["question"],
        },
    },
}
# Where the episode of a request stands among what verl holds for the request's tools.
EPISODE = "diorama_episode"


class Episode:
    """The session of a request. Calls that the model makes together reach it one after the other, in the model's order."""

    def __init__(self, server: str, token: str | None, task: str, seed: int | None) -> None:
        self._session = Session(Client(server, token), task, seed)
        self._turn = asyncio.Lock()
        self.done = False
        try:
            shown = self._session.task()
            self.prompt = [{"role": "system", "content": shown["system"]}, {"role": "user", "content": shown["user"]}]
            self.shown: list[dict[str, Any]] = [*shown["tools"], ASK_USER]
            # What no search has shown yet is refused by the server, in words for the model.
            self.tools = {tool.name: tool for tool in map(self._tool, [*self._session.reachable_tools(), *self.shown])}
        except BaseException:
            self._session.close()
            raise

    def grade(self) -> dict[str, Any]:
        return self._session.grade()

    def close(self) -> None:
        self._session.close()

    async def _call(self, name: str, /, **arguments: Any) -> str:
        async with self._turn:
            called = await asyncio.to_thread(self._session.call, name, arguments)
        if name == FINISH and called["status"] < 400:
            self.done = called["body"]["done"]
        return json.dumps(called["body"])

    def _tool(self, tool: dict[str, Any]) -> FunctionTool:
        name = tool["function"]["name"]
        return FunctionTool(name, functools.partial(self._call, name), readable(tool), is_async=True)


def readable(tool: dict[str, Any]) -> OpenAIFunctionToolSchema:
    """A tool as verl's parsers of calls read it: each property has a type, whatever else its schema says."""
    function = tool["function"]
    declared = function.get("parameters", {})
    properties = {name: {"type": "string", **schema} for name, schema in declared.get("properties", {}).items()}
    parameters = {"type": "object", "properties": properties, "required": declared.get("required", [])}
    described = {"name": function["name"], "description": function.get("description", ""), "parameters": parameters}
    return OpenAIFunctionToolSchema.model_validate({"type": "function", "function": described})


class DioramaAgentLoop(ToolAgentLoop):
    """verl's loop of calls over a session. `token` is the server's control token: DIORAMA_CONTROL_TOKEN unless given."""

    def __init__(self, *arguments: Any, server: str, token: str | None = None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._server, self._token = server, token

    async def run(self, sampling_params: dict[str, Any], priority: int = 0, **row: Any) -> AgentLoopOutput:
        asked = row.get("extra_info") or {}
        task = asked.get("id")
        if not isinstance(task, str):
            raise ValueError("found a row without `extra_info.id`, expected a task's id: export with `--format verl`")
        episode = await asyncio.to_thread(Episode, self._server, self._token, task, asked.get("seed"))
        try:
            told = {"raw_prompt": episode.prompt, "tools_kwargs": {EPISODE: episode}}
            output = await super().run(sampling_params, priority, **{**row, **told})
            return graded(output, await asyncio.to_thread(episode.grade))
        finally:
            await asyncio.to_thread(episode.close)

    async def _handle_pending_state(self, agent_data: AgentData, sampling_params: dict[str, Any]) -> AgentState:
        episode = agent_data.tools_kwargs[EPISODE]
        agent_data._active_tools, agent_data._active_tool_schemas = episode.tools, episode.shown
        return await super()._handle_pending_state(agent_data, sampling_params)

    async def _handle_processing_tools_state(self, agent_data: AgentData) -> AgentState:
        state = await super()._handle_processing_tools_state(agent_data)
        return AgentState.TERMINATED if agent_data.tools_kwargs[EPISODE].done else state


def graded(output: AgentLoopOutput, grade: dict[str, Any]) -> AgentLoopOutput:
    """The rollout with its reward. One that the environment is to blame for teaches nothing: none of its tokens is learned from."""
    excluded = bool(grade["excluded"])
    output.reward_score = 0.0 if excluded else float(grade["reward"])
    if excluded:
        output.response_mask = [0] * len(output.response_mask)
    output.extra_fields["reward_extra_info"] = {"success": float(bool(grade["success"])), "excluded": float(excluded)}
    return output
