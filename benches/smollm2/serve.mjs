// Serves a GGUF model over OpenAI's POST /v1/chat/completions, for tests against a real model.
//
//   node serve.mjs --model FILE [--port 8081] [--threads 2] [--sequences 4] [--context 4096]
//
// Runs on npm's node-llama-cpp, on the processor alone. Takes `response_format` (json_schema and json_object), `temperature`,
// `top_p`, `seed`, `max_tokens` and `tools` (in the prompt; the model may ignore them). The same request gives the same reply.
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { LlamaGrammar, LlamaGrammarEvaluationState, LlamaLogLevel, getLlama } from "node-llama-cpp";

const { values: options } = parseArgs({
    options: {
        model: { type: "string" },
        port: { type: "string", default: "8081" },
        threads: { type: "string", default: "2" },
        sequences: { type: "string", default: "4" },
        context: { type: "string", default: "4096" },
    },
});

const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: Number(options.threads) });
const model = await llama.loadModel({ modelPath: options.model });
const contextSize = Number(options.context);
const sequences = Number(options.sequences);
const context = await model.createContext({ contextSize, sequences, threads: Number(options.threads) });
const free = Array.from({ length: sequences }, () => context.getSequence());
const waiting = [];
const grammars = new Map();

class Refused extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

/** A grammar by schema: they are costly to make, and a run uses a few of them thousands of times. */
async function grammarFor(format) {
    if (format === undefined || format.type === "text") return undefined;
    const schema = format.type === "json_schema" ? format.json_schema?.schema : format.schema;
    const key = JSON.stringify(schema ?? null);
    if (!grammars.has(key)) {
        const made = schema === undefined ? LlamaGrammar.getFor(llama, "json") : llama.createGrammarForJsonSchema(schema);
        grammars.set(key, await made.catch((error) => { throw new Refused(400, `the schema cannot be used: ${error.message}`); }));
    }
    return grammars.get(key);
}

/** The text that the model was trained on: ChatML, and calls between tags. */
function prompt(messages, tools) {
    const listed = (tools ?? []).map((tool) => JSON.stringify(tool.function)).join("\n");
    const howTo = listed === "" ? "" : "You may call these functions, listed in <tools></tools>:\n<tools>\n" + listed +
        '\n</tools>\nTo call one, answer with <tool_call>{"name": ..., "arguments": {...}}</tool_call> alone.\n\n';
    const text = (content) => typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
    const turns = messages.map((message) => {
        const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: given } }) =>
            `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": ${given}}</tool_call>`);
        return [message.role === "tool" ? "user" : message.role, [text(message.content), ...calls].join("\n").trim()];
    });
    if (howTo !== "") {
        if (turns[0]?.[0] === "system") turns[0][1] = howTo + turns[0][1];
        else turns.unshift(["system", howTo.trim()]);
    }
    return turns.map(([role, said]) => `<|im_start|>${role}\n${said}<|im_end|>\n`).join("") + "<|im_start|>assistant\n";
}

function toolCalls(text) {
    return [...text.matchAll(/<tool_call>(.*?)(?:<\/tool_call>|$)/gs)].flatMap(([, call], number) => {
        try {
            const { name, arguments: given } = JSON.parse(call);
            return [{ id: `call_${number}`, type: "function", function: { name: String(name), arguments: JSON.stringify(given ?? {}) } }];
        } catch {
            return [];
        }
    });
}

async function generate(sequence, tokens, body, grammar, gone) {
    const longest = Math.min(body.max_tokens ?? body.max_completion_tokens ?? 512, contextSize - tokens.length - 1);
    // What a sequence has in common with its last prompt is not read again, apart from the last token: it makes the reply.
    await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
    const rest = tokens.slice(sequence.nextTokenIndex);
    const state = grammar && new LlamaGrammarEvaluationState({ model, grammar });
    const out = [];
    let finish = "length";
    const steps = sequence.evaluate(rest, {
        temperature: body.temperature ?? 0.7, topP: body.top_p ?? 0.95, topK: 40, minP: 0, seed: body.seed ?? 0,
        grammarEvaluationState: state, yieldEogToken: true,
    });
    for await (const token of steps) {
        if (model.isEogToken(token)) { finish = "stop"; break; }
        out.push(token);
        // Grammars of JSON end in empty lines, not in a token of their own.
        if (grammar && model.detokenize(out.slice(-4)).endsWith("\n\n\n\n")) { finish = "stop"; break; }
        if (out.length >= longest || gone()) break;
    }
    return { text: model.detokenize(out).trimEnd(), count: out.length, finish };
}

async function complete(body, gone) {
    if (!Array.isArray(body.messages)) throw new Refused(400, "`messages` is missing");
    const grammar = await grammarFor(body.response_format);
    const tokens = model.tokenize(prompt(body.messages, body.tools), true);
    if (tokens.length + 16 > contextSize) throw new Refused(400, `the prompt has ${tokens.length} tokens, the context ${contextSize}`);
    const sequence = free.pop() ?? await new Promise((resolve) => waiting.push(resolve));
    try {
        if (gone()) throw new Refused(499, "the caller has gone");
        const { text, count, finish } = await generate(sequence, tokens, body, grammar, gone);
        const calls = body.tools ? toolCalls(text) : [];
        const content = calls.length > 0 ? text.replace(/<tool_call>.*/s, "").trim() : text;
        return {
            id: "chatcmpl-0", object: "chat.completion", created: 0, model: body.model ?? options.model,
            choices: [{
                index: 0, finish_reason: calls.length > 0 ? "tool_calls" : finish,
                message: { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
            }],
            usage: { prompt_tokens: tokens.length, completion_tokens: count, total_tokens: tokens.length + count },
        };
    } finally {
        const next = waiting.shift();
        if (next) next(sequence); else free.push(sequence);
    }
}

async function read(request) {
    let text = "";
    for await (const part of request) text += part;
    try { return JSON.parse(text); } catch { throw new Refused(400, "the body is not JSON"); }
}

const server = createServer(async (request, response) => {
    const answer = (status, body) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(body));
    };
    if (request.method === "GET") return answer(200, { object: "list", data: [{ id: "SmolLM2-135M-Instruct", object: "model" }] });
    try {
        answer(200, await complete(await read(request), () => response.destroyed));
    } catch (error) {
        answer(error instanceof Refused ? error.status : 500, { error: { message: error.message } });
    }
});
server.listen(Number(options.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
