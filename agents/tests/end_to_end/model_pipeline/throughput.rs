//! How much of a server's time a thousand conversations at once make use of, and what the rest goes to.

use std::time::Instant;

use diorama_llm::{BoxFuture, Identity, RequestOrigin};

use super::*;

const AT_ONCE: usize = 1000;
const DELAY: Duration = Duration::from_millis(200);

/// The cost of a run.
struct Took {
    seconds: f64,
    /// Of all threads: of the machine's cores, others may have had a part.
    cpu: f64,
}

impl Took {
    /// Starts to measure.
    fn start() -> (Instant, f64) {
        (Instant::now(), cpu_seconds())
    }

    fn since((started, cpu): (Instant, f64)) -> Self {
        Self { seconds: started.elapsed().as_secs_f64(), cpu: cpu_seconds() - cpu }
    }

    fn told(&self, what: &str) {
        println!("{what}: {:.1} s, {:.1} s of processors", self.seconds, self.cpu);
    }
}

/// The processors' time of this process, as the kernel counts it; 0 where it does not say.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Names of programs may hold blanks; fields are counted from the one after it. A tick is a hundredth of a second.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) / 100.0
}

/// A model that answers at once, and is no server.
struct AtOnce(Identity);

impl ChatModel for AtOnce {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        let reply = ChatReply::text(plain(&json!({ "messages": request.messages })).to_string());
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// The model as the program asks it.
fn asked(server: &ModelServer, budget: &Arc<RunBudget>) -> impl ChatModel + 'static {
    let model = HttpModel::new(HttpSettings::new(server.url(), "plain"), None).unwrap();
    let max_in_flight = NonZeroUsize::new(AT_ONCE).unwrap();
    RetryingModel::new(model, RetrySettings::default(), max_in_flight, Arc::clone(budget))
}

/// All rows, with a model.
async fn rows(model: Arc<dyn ChatModel>, dialogues: u64) -> Took {
    let settings = settings(UserWords::Rewritten, AssistantWords::Rewritten);
    let recipe = recipe(&settings, dialogues, vec![Ability::Call]);
    let run_context = run_context(&recipe, &settings, model);
    let folder = tempfile::tempdir().unwrap();
    let writer = writer(&recipe, folder.path(), PlanSizes::new(dialogues), Start::Fresh);
    let started = Took::start();
    let runtime = tokio::runtime::Handle::current();
    let run = || run(&run_context, &runtime, &writer, AT_ONCE, None, &|_| {}).unwrap();
    let ended = tokio::task::block_in_place(run);
    assert_eq!((ended.unfinished, ended.rows), (0, dialogues));
    Took::since(started)
}

/// As many requests as the rows take, of one word each: what the protocol alone takes of this machine.
async fn one_word_each(server: &ModelServer, calls: u64) -> Took {
    let model = Arc::new(asked(server, &RunBudget::unlimited()));
    let started = Took::start();
    let mut tasks = tokio::task::JoinSet::new();
    for row in 0..AT_ONCE as u64 {
        let model = Arc::clone(&model);
        tasks.spawn(async move {
            for attempt in 0..calls.div_ceil(AT_ONCE as u64) as u32 {
                let origin = RequestOrigin { step: "floor".to_owned(), row, attempt };
                let messages = vec![Message::system("Go.")];
                model.chat(&ChatRequest::new(origin, messages, Sampling::up_to(10))).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    Took::since(started)
}

/// A thousand conversations at once, each reply after 200 ms: what share of the ideal is kept, and what share of what the machine
/// could give at all, which has to plan, prove and talk to a server on the same cores.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures, and asserts nothing that depends on the machine"]
async fn a_thousand_conversations_at_once() {
    let server = Script { delay: DELAY, keep: Keep::Counts, ..script(Vec::new()) };
    let server = ModelServer::start(server).await.unwrap();
    let budget = RunBudget::unlimited();
    let dialogues = 12_000;
    let both = rows(Arc::new(asked(&server, &budget)), dialogues).await;
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = memory.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let calls = budget.report().total.calls;
    let identity = Identity { model: "plain".to_owned(), json_mode: JsonMode::JsonSchema };
    let work = rows(Arc::new(AtOnce(identity)), dialogues).await;
    let protocol = one_word_each(&server, calls).await;
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get) as f64;
    let latency = calls as f64 / AT_ONCE as f64 * DELAY.as_secs_f64();
    let machine = latency.max((work.cpu + protocol.cpu) / cores);
    println!("{dialogues} rows, {calls} calls on {cores} cores; {peak}");
    both.told("all of it");
    work.told("planning, words and gates alone, without a server");
    protocol.told("requests of one word alone");
    println!(
        "{:.2} of the ideal of {latency:.1} s by waiting alone; requests of one word keep {:.2} of it; {:.2} of the {machine:.1} s \
         that this machine's cores need for the parts, which are {:.2} of the processors' time",
        latency / both.seconds,
        latency / protocol.seconds,
        machine / both.seconds,
        (work.cpu + protocol.cpu) / both.cpu,
    );
}
