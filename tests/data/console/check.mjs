// Opens the pages of the console in Chromium. Fails where a page has an error, runs foreign text, or has a serious fault of axe-core.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const PROGRAM = process.env.DIORAMA;
const DATA = process.env.CONSOLE_DATA;
const SCREENSHOTS = process.env.SCREENSHOTS;
const TOKEN = "token of the check";
const HOSTILE = `</script><script>window.ran=1</script><img src=x onerror=window.ran=1>\u202e"'&`;
const RECORDS = 10_000;
const ROWS = 40;
const FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
];

const folder = mkdtempSync(join(tmpdir(), "console-"));
const running = [];
const failures = [];

function check(holds, message) {
    if (!holds) failures.push(message);
}

// Starts a command that prints a JSON object once it listens, and returns that.
function start(...options) {
    const child = spawn(PROGRAM, [...options, "--port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
    running.push(child);
    return new Promise((resolve, reject) => {
        let printed = "";
        child.once("exit", (code) => reject(new Error(`${options.join(" ")} ended with ${code}`)));
        child.stdout.on("data", (part) => {
            printed += part;
            if (printed.trimEnd().endsWith("}")) resolve(JSON.parse(printed));
        });
    });
}

function hostileWorld() {
    const quoted = (text) => JSON.stringify(text).slice(1, -1);
    const record = (number) => ({ note_id: number, text: number === 2 ? "x".repeat(1 << 20) : HOSTILE });
    const records = JSON.stringify(Array.from({ length: RECORDS }, (_, number) => record(number + 1)));
    const text = readFileSync(join(DATA, "hostile.yaml"), "utf8");
    const file = join(folder, "hostile.yaml");
    writeFileSync(file, text.replaceAll("HOSTILE", () => quoted(HOSTILE)).replace("RECORDS", () => records));
    return file;
}

// Requests that are refused on purpose: pages without the token, and a call in a session that is gone. They are errors of the browser's
// console, too.
const refusals = [/status of 401 .*console$/, /404.*\/apis\/GetNote/];

// A page that fails the check where it has an error of the console or of its own, or asks for something elsewhere.
async function open(browser, scheme) {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.on("pageerror", (error) => failures.push(`${page.url()}: ${error}`));
    page.on("console", (message) => {
        const isMeant = refusals.some((refusal) => refusal.test(`${message.text()} ${message.location().url}`));
        if (message.type() === "error" && !isMeant) failures.push(`${page.url()}: ${message.text()}`);
    });
    page.on("request", (request) => {
        check(/^(http:\/\/127\.0\.0\.1:|file:\/\/)/.test(request.url()), `${page.url()} asks for ${request.url()}`);
    });
    return page;
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Looks at the page that is open: axe-core, foreign scripts, a screenshot.
async function look(page, name) {
    check(!(await page.evaluate(() => window.ran)), `${name}: text of others ran`);
    check((await page.locator("main img, main script").count()) === 0, `${name}: text of others became elements`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], preload: false }));
    for (const { id, impact, nodes } of violations.filter(({ impact }) => ["serious", "critical"].includes(impact))) {
        failures.push(`${name}: axe-core: ${impact}: ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
    }
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
    console.log(`${name}: ${violations.map(({ id, impact }) => `${impact}: ${id}`).join(", ") || "no fault"}`);
}

async function checkSessions(browser, first) {
    const page = await open(browser, "light");
    await page.goto(first);
    await look(page, "sign-in");
    await page.fill("#token", TOKEN);
    await page.click("text=Sign in >> nth=-1");
    await page.waitForSelector("h1:text-is('Worlds')");
    await look(page, "worlds");
    const [cookie] = await page.context().cookies();
    check(cookie.httpOnly && cookie.sameSite === "Strict", "the cookie is not HttpOnly and SameSite=Strict");
    await page.fill("#q", "book an appointment");
    await page.waitForSelector("ol.hits li");
    await look(page, "search");
    await page.goto(first + "/worlds/dental_clinic");
    await look(page, "world");
    await page.goto(first + "/worlds/dental_clinic/flow");
    await look(page, "flow");
    await page.goto(first + "/worlds/dental_clinic/resources/patient");
    await look(page, "resource");

    // A call in a scratch session, and another in the same.
    await page.goto(first + "/worlds/hostile/apis/SetNote");
    await page.fill("[name='argument:note_id']", "1");
    await page.fill("[name='argument:text']", HOSTILE + " once more");
    await page.click("form.call button");
    await page.waitForSelector("#outcome .badge.updated");
    await look(page, "call");
    await page.click("form.call button");
    await page.waitForSelector("#outcome :text('Call 2 of')");
    await page.click("#outcome a");
    await page.waitForSelector("h1:has-text('Session')");
    check((await page.locator("ol.timeline > li").count()) === 2, "the timeline has not two calls");
    await page.click("ol.timeline summary >> nth=0");
    await look(page, "session");
    const session = page.url();

    // A call in a session that is gone says so.
    await page.goto(first + "/worlds/hostile/apis/GetNote?session=" + "0".repeat(32));
    await page.fill("[name='argument:note_id']", "1");
    await page.click("form.call button");
    await page.waitForSelector(".problem:has-text('no session has the id')");
    await look(page, "problem");
    await page.goto(session);

    // Forked after the first call, and compared.
    await page.click("ol.timeline summary >> nth=0");
    await page.click("text=Fork after this call >> nth=0");
    await page.waitForURL((url) => url.href !== session);
    check((await page.locator("ol.timeline > li").count()) === 1, "the fork has not one call");
    await page.fill("#right", session.split("/").pop());
    await page.click("text=Compare");
    await page.waitForSelector("h1:text-is('Two sessions')");
    check((await page.textContent("main")).includes("They part at call 2"), "the comparison does not say where they part");
    await look(page, "compare");

    // Records after each call.
    await page.goto(session + "/state?resource=note");
    await look(page, "state");
    await page.locator("#at").focus();
    await page.keyboard.press("Home");
    await page.waitForSelector("#state :text('After 0 of 2 calls')");
    check((await page.locator("#state .change").count()) === 0, "there are changes before the first call");
    await page.goto(session);
    await page.click("text=Reset");
    await page.waitForSelector("text=No calls yet.");
    await page.goto(first + "/sessions");
    await look(page, "sessions");
    await page.goto(first + "/worlds/hostile/resources/note?offset=9950");
    await look(page, "hostile-records");
    await page.goto(first + "/worlds/hostile");
    await look(page, "hostile-world");

    // A task: the user is talked to, and the episode is graded.
    await page.goto(first + "/sessions");
    await page.click("summary:text('New session')");
    const task = await page.locator("#tasks option").first().getAttribute("value");
    await page.fill("#task", task);
    await page.fill("#world", "");
    await page.click("text=Make it");
    await page.fill("#content", "What do you need?");
    await page.click("text=Send");
    await page.waitForSelector("li.message");
    await page.click("text=Grade");
    await page.waitForSelector("h2:text-is('Grade')");
    await look(page, "grade");
    await page.click("text=Sign out");
    await page.waitForSelector("h1:text-is('Sign in')");
    await page.context().close();

    // The same in the dark, and on a narrow screen.
    const dark = await open(browser, "dark");
    await dark.goto(first);
    await dark.fill("#token", TOKEN);
    await dark.keyboard.press("Enter");
    await dark.waitForSelector("h1:text-is('Worlds')");
    await dark.goto(first + "/worlds/dental_clinic/apis/BookAppointment");
    await look(dark, "call-dark");
    await dark.setViewportSize({ width: 420, height: 900 });
    await look(dark, "call-narrow");
    await dark.context().close();
}

async function checkRows(browser, first) {
    const page = await open(browser, "light");
    await page.goto(first);
    check((await page.textContent("#rows p")).startsWith(`${ROWS} of ${ROWS} rows`), "the list does not have all rows");
    await look(page, "rows");
    const ability = await page.locator("#ability option >> nth=1").getAttribute("value");
    await page.selectOption("#ability", ability);
    await page.waitForFunction((all) => !document.querySelector("#rows p").textContent.startsWith(`${all} of`), ROWS);
    await page.click("#rows a >> nth=0");
    await page.waitForSelector("ol.conversation");
    check((await page.locator(".called a[href^='#turn-']").count()) > 0, "no argument has a source");
    await look(page, "row");
    await page.goto(first.replace(/rows$/, "dataset"));
    await look(page, "dataset");
    await page.context().close();
}

async function checkRuns(browser, first) {
    const page = await open(browser, "light");
    await page.goto(first);
    check((await page.locator("tbody tr").count()) === 2, "the list does not have two runs");
    await look(page, "runs");
    await page.click("tbody a >> nth=1");
    await page.waitForSelector("#episodes");
    await look(page, "run");
    await page.click(".shares a >> nth=0");
    await page.waitForSelector("#episodes :text('show all')");
    await page.click("#episodes table a >> nth=0");
    await page.waitForSelector("#reference");
    check((await page.locator("section[aria-labelledby=reference] ol.conversation > li").count()) > 2, "there is no reference");
    check((await page.locator("ul.errors li").count()) > 0, "the verdict names no error");
    await look(page, "episode");
    // The same pages as files.
    await page.goto("file://" + join(folder, "pages", "index.html"));
    await page.click("tbody a >> nth=1");
    await page.click("#episodes table a >> nth=0");
    await page.waitForSelector("#reference");
    await look(page, "episode-file");
    await page.context().close();
}

// Runs a command to its end.
function run(...options) {
    const done = spawnSync(PROGRAM, options, { stdio: ["ignore", "ignore", "inherit"] });
    if (done.status !== 0) throw new Error(`${options.join(" ")} ended with ${done.status}`);
}

mkdirSync(SCREENSHOTS, { recursive: true });
let browser;
try {
    const rows = join(folder, "rows");
    run("generate", "-n", String(ROWS), "--out", rows);
    const agents = ["oracle", "always-refuse"];
    const runs = agents.map((agent) => join(folder, agent));
    agents.forEach((agent, number) => run("eval", rows, "--agent", agent, "--out", runs[number]));
    run("eval", "export-html", ...runs, "--tasks", rows, "--out", join(folder, "pages"));
    const served = await start("serve", "dental_clinic", hostileWorld(), "--tasks", rows, "--control-token", TOKEN);
    const viewed = await start("dataset", "view", rows, "--web");
    const shown = await start("eval", "show", ...runs, "--tasks", rows);
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
    const checks = [
        [checkSessions, served.listening + "/__diorama/console"],
        [checkRows, viewed.listening],
        [checkRuns, shown.listening],
    ];
    for (const [one, first] of checks) {
        await one(browser, first).catch((error) => failures.push(String(error.stack)));
    }
} catch (error) {
    failures.push(String(error.stack));
} finally {
    await browser?.close();
    running.forEach((child) => child.removeAllListeners("exit").kill());
    rmSync(folder, { recursive: true, force: true });
}
failures.forEach((failure) => console.error(`FAILED ${failure}`));
process.exit(failures.length ? 1 : 0);
