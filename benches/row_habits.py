#!/usr/bin/env python3
"""Counts habits of generated dialogues that people do not have, and figures that should be near people's.

    row_habits.py DATASET [--examples N] [--json]

Reads the Parquet files of a dataset and the words of `seeds/catalog/speech.yaml`. Each line gives a share of rows, or of the cases that its name tells, with the number of
cases. --examples prints ids of rows for each count. Needs pyarrow.
"""
import argparse, collections, datetime, glob, json, pathlib, re, sys
import pyarrow.parquet as pq

COLUMNS = ["id", "world_id", "ability", "domains", "tags", "tools", "messages", "gold_calls", "episode"]
SEARCH = "ToolSearcher"
STOP = set("""a an and any are as at be been before but by can could do does for from has have if in into is it its may more must no not of on
one only or other out so such than that the their them then there these they this to too was when which will with would yes you your""".split())
READS = re.compile(r"^(find|list|search|get|show|view|read|quote|price|check|compute|count|look|compare|estimate|sum|track|see|tell|free|my|contract|branch|training|calculate|convert|explain|preview|.*(info|report|summary|history|status|details|overview|quote|hours|terms))", re.I)
DELETES = re.compile(r"^(cancel|delete|remove|close|end|terminate|withdraw|drop|discard|revoke|clear)", re.I)
PRICES = re.compile(r"(^|_)(paid|price|total|fee|cost|charge|charged|due|amount|premium|deposit)($|_)", re.I)
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def stem(word):
    for end in ("ing", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= 3: return word[:-len(end)].rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def stems(text): return {stem(w) for w in re.findall(r"[a-z]+", text.lower()) if w not in STOP}


def leaves(node, path=""):
    if isinstance(node, dict):
        for key, value in node.items(): yield from leaves(value, key)
    elif isinstance(node, list):
        for value in node: yield from leaves(value, path)
    else: yield path, node


def mask(text, values):
    for value in values: text = text.replace(value, "<V>")
    text = re.sub(r"(?<!\w)[A-Z]{1,4}-?[A-Z]*\d[\w-]*", "<V>", text)
    text = re.sub(r"\b(?:" + "|".join(DAYS + MONTHS) + r")\b", "<D>", text)
    return re.sub(r"[€$£]?\d[\d,.:]*", "<N>", text)


def read_generic():
    """The sentences of speech.yaml that operators say of an assistant for any service."""
    text = (pathlib.Path(__file__).parent.parent / "seeds/catalog/speech.yaml").read_text()
    lines = re.search(r"^assistants:\n((?:  - .*\n)+)", text, re.M)[1]
    sentences = [s.strip(". ") for line in re.findall(r'"(.*)"', lines) for s in re.split(r"(?<=[.!?])\s+", line)]
    return {*sentences, "You have tools for the services named below", "Say so when a request cannot be carried out"}


GENERIC = read_generic()


class Call:
    def __init__(self, gold, name, arguments, reply):
        self.gold, self.name, self.arguments, self.text = gold, name, arguments, reply
        self.source = gold.get("source_api") or name
        self.domain, _, self.api = self.source.rpartition(".")
        try: self.reply = json.loads(reply)
        except ValueError: self.reply = reply
        status = self.reply.get("status") if isinstance(self.reply, dict) else None
        self.status = status if isinstance(status, int) and 400 <= status < 600 and "detail" in self.reply else 200
        self.is_search = name == SEARCH
        self.is_sign_in = bool(re.search(r"sign_?in|log_?in", self.api, re.I))
        self.writes = not self.is_search and not self.is_sign_in and not READS.match(self.api)


class Row:
    """A row as steps: ("user", text), ("say", text), ("calls", [Call]); `goals` are the steps of each goal."""
    def __init__(self, row, services):
        self.services = services.get(row["world_id"], {})
        self.id, self.tags, self.ability = row["id"], row["tags"], row["ability"]
        self.episode, self.tools, self.system, self.steps = json.loads(row["episode"]), {}, "", []
        self.show(json.loads(row["tools"]) if row["tools"] else [])
        self.visible = list(self.tools)
        gold, messages = iter(json.loads(row["gold_calls"])), row["messages"]
        replies = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
        for m in messages:
            if m["role"] == "system": self.system = m["content"]
            elif m["role"] == "user": self.steps.append(("user", m["content"]))
            elif m["role"] == "assistant":
                if m["content"]: self.steps.append(("say", m["content"]))
                calls = [Call(next(gold), c["function"]["name"], json.loads(c["function"]["arguments"]), replies[c["id"]]) for c in m["tool_calls"] or []]
                if calls: self.steps.append(("calls", calls))
                for call in calls:
                    if call.is_search and isinstance(call.reply, dict): call.shown = self.show(call.reply.get("tools", []))
        ends, self.goals, users = self.goal_starts(), [], 0
        for step in self.steps:
            if step[0] == "user":
                if users in ends: self.goals.append([])
                users += 1
            self.goals[-1].append(step)

    def goal_starts(self):
        starts, users, opens = set(), 0, True
        for event in self.episode["events"]:
            if "user" in event:
                if opens: starts.add(users)
                users, opens = users + 1, False
            opens = opens or "end" in event
        return starts

    def show(self, tools):
        names = []
        for tool in tools:
            f = tool.get("function", tool)
            self.tools[f["name"]] = f.get("description") or ""
            names.append(f["name"])
        return names

    def calls(self): return [c for kind, calls in self.steps if kind == "calls" for c in calls]
    def used(self): return [c for c in self.calls() if not c.is_search]
    def users(self): return [text for kind, text in self.steps if kind == "user"]
    def values(self):
        found = set()
        for c in self.used():
            for _, v in [*leaves(c.reply), *leaves(c.arguments)]:
                if isinstance(v, str) and (len(v) >= 5 or v[:1].isupper()) and len(v) > 1: found.add(v)
        return sorted(found, key=len, reverse=True)


def spoken_date(value):
    found = re.match(r"(\d{4})-(\d\d)-(\d\d)", value)
    return f"{int(found[3])} {MONTHS[int(found[2]) - 1]}" if found else None


def is_said(value, text, least=10):
    """Whether a text states a value of a reply; numbers below `least` are said by chance."""
    if isinstance(value, bool) or value is None: return False
    if isinstance(value, (int, float)):
        if value < least: return False
        plain = f"{value:.2f}".rstrip("0").rstrip(".")
        return any(re.search(rf"(?<![\d.,]){re.escape(form)}(?![\d]|[.,]\d)", text) for form in {plain, f"{value:.2f}", f"{value:,.2f}", f"{value:,}"})
    return len(value) >= 4 and (value.lower() in text.lower() or bool(spoken_date(value)) and spoken_date(value) in text)


def later_matter(row):
    """The first matter's steps and those of the first matter of another domain; None where there is none."""
    domains = [{c.domain for kind, calls in goal if kind == "calls" for c in calls if not c.is_search} for goal in row.goals]
    first = next((d for d in domains if d), set())
    at = next((i for i, d in enumerate(domains) if d and not d & first), None)
    if at is None: return None
    return [s for g in row.goals[:at] for s in g], [s for g in row.goals[at:] for s in g]


def link(row):
    """A value that an earlier reply or message gave and the later matter takes up, where there is one; None without another domain."""
    parts = later_matter(row)
    if parts is None: return None
    before, after = parts
    calls = lambda steps: [c for kind, cs in steps if kind == "calls" for c in cs if not c.is_search]
    said = " ".join(text for kind, text in after if kind == "user") + " "
    token = re.compile("token|key$|password|pin$|passphrase|expires", re.I)
    given = {str(v) for c in calls(after) for k, v in leaves(c.arguments) if not token.search(k)}
    known = [v for c in calls(before) if not c.is_sign_in for k, v in [*leaves(c.reply), *leaves(c.arguments)] if not token.search(k)]
    for v in known:
        if is_said(v, said) or (isinstance(v, str) and len(v) >= 4 and v in given and not v.islower()): return v
    return False


def leaves_out_a_service(row):
    """Whether the operator tells who the assistant is, and does not name a service whose tools there are; None without a persona."""
    if "policy" in row.tags: return None
    kept = [s for s in re.split(r"(?<=[.!?)])\s+|\n|(?<=\d) (?=[A-Z])", row.system)
            if not re.search(r"\d\d:\d\d|\d{4}|^Zone: |ToolSearcher|is signed in at|^At the service", s) and s.strip(". ") not in GENERIC]
    persona = " ".join(kept).lower().replace("-", " ")
    if not persona.strip(): return None
    titles = set(row.services.values()) if not row.visible else {row.services[t] for t in row.visible if t in row.services}
    own = {row.services.get(c.name) for c in row.used()[:1]}
    return any(title.lower().replace("-", " ") not in persona for title in titles - own)


def rule_in_text(call, description):
    detail = stems(str(call.reply.get("detail", "")))
    best = max((len(detail & stems(s)) for s in re.split(r"[.;] ", description)), default=0)
    return len(detail) >= 2 and best >= 2 and best / len(detail) >= 0.6


def count(rows):
    found, cases = collections.defaultdict(list), collections.Counter()
    def case(name, row, holds):
        cases[name] += 1
        if holds: found[name].append(row.id)
    later, endings, openings = [], [], []
    for row in rows:
        calls, used = row.calls(), row.used()
        # 8 joined
        case("8 joined", row, "joined" in row.tags)
        if "several_domains" in row.tags and (value := link(row)) is not None: case("8 joined domains without a link", row, value is False)
        # 9 rules in texts
        case("9 tries what the tool's text forbids", row, any(c.status in (400, 403, 409, 422) and rule_in_text(c, row.tools.get(c.name, "")) for c in used))
        # 10 prices, deletions, failed writes
        said, charged, untold, deletions, unconfirmed, resent, outages = row.system, 0, 0, 0, 0, 0, 0
        asked = False
        for kind, step in row.steps:
            if kind == "say": said, asked = said + " " + step, step.rstrip().endswith("?")
            elif kind == "user": said, answered = said + " " + step, asked
            else:
                for c in step:
                    if c.is_search or c.status != 200: continue
                    if DELETES.match(c.api): deletions += 1; unconfirmed += not answered
                    if c.writes and not DELETES.match(c.api) and isinstance(c.reply, dict):
                        prices = [v for k, v in leaves(c.reply) if PRICES.search(k) and isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 1]
                        if prices: charged += 1; untold += not any(is_said(p, said, 1) for p in prices)
        for c, after in zip(used, used[1:]):
            if c.status in (429, 503) and c.writes: case("10 failed writes sent again without a look", row, after.source == c.source)
        case("10 charged without telling the price", row, untold)
        if deletions: case("10 deletes without a confirmation (rows that delete)", row, unconfirmed)
        # 11 searches
        heard, hits_sign_in, from_hit, needless, shown, searches = row.system, False, False, False, set(row.visible), 0
        flat = [(kind, step) for kind, step in row.steps]
        order = [("user", s) if k == "user" else ("call", c) for k, s in flat if k != "say" for c in (s if k == "calls" else [None])]
        for index, (kind, step) in enumerate(order):
            if kind == "user": heard += " " + step; continue
            if not step.is_search: continue
            searches += 1
            following = next((c for k, c in order[index + 1:] if k == "call" and not c.is_search), None)
            words = stems(step.arguments["keywords"]) - stems(heard)
            name = " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", following.name)) if following else ""
            from_hit |= bool(following and words & (stems(row.tools.get(following.name, "")) | stems(name)))
            hits = getattr(step, "shown", [])
            called = {c.name for k, c in order[index + 1:] if k == "call" and not c.is_search}
            needless |= bool(following and following.name in shown and not called & (set(hits) - shown))
            shown |= set(hits)
            hits_sign_in |= bool(following) and not following.is_sign_in and any(re.search(r"sign_?in|log_?in", re.sub(r"[^a-z_]", "", h.lower())) for h in hits)
        if searches:
            case("11 searches by words of the hit (rows that search)", row, from_hit)
            case("11 searches though the tool was shown (rows that search)", row, needless)
            case("11 sign-in among hits (rows that search)", row, hits_sign_in)
        # 13 serial calls
        messages = [s for k, s in row.steps if k == "calls"]
        position, serial = 0, False
        for one, two in zip(messages, messages[1:]):
            position += len(one)
            if len(one) == 1 and len(two) == 1 and not one[0].is_search and one[0].source == two[0].source and 200 == one[0].status == two[0].status:
                between = row.steps[row.steps.index(("calls", one)) + 1]
                needs = json.dumps(two[0].gold.get("sources", {}))
                of_user = re.findall(r'"turn": (\d+)', needs)
                serial |= between == ("calls", two) and f'"call": {position - 1}' not in needs and "page" not in two[0].arguments and "offset" not in two[0].arguments
        case("13 serial independent calls of one API", row, serial)
        values = row.values()
        openings.append(mask(row.users()[0], values))
        later += [mask(text, values) for text in row.users()[1:]]
        endings += [mask(s[1], values) for goal in row.goals for s in goal[-1:] if s[0] == "say"]
        # 14 texts
        texts = row.tools.values()
        case("14 a description without a full stop", row, any(t and not t.rstrip().endswith((".", "?", "!")) for t in texts))
        case("14 'minutes in min' and the like", row, any(re.search(r"\b(minutes|nights|hours|days|weeks|months|years) in (min|nights|h|days|d|weeks|months|years)\b", t) for t in texts))
        case("14 'services named below' without a list", row, "named below" in row.system and ":" not in row.system.split("named below")[1].split(".")[0])
        case("14 parts of the system message run together", row, bool(re.search(r"[a-z)] (Use ToolSearcher|Tools are|No function|Before calling|It is|Today is|Current time|Date:|Now:|The local)", row.system)))
        if (fault := leaves_out_a_service(row)) is not None: case("14 persona without a service of the tools (rows with a persona)", row, fault)
        case("14 corrects within one typed message", row, "slip" in row.tags)
        case("14 token expires on the first call", row, any(a.is_sign_in and a.status == 200 and b.status == 401 for a, b in zip(used, used[1:])))
        case("14 'rest of the quarter'", row, any("rest of the quarter" in t for k, t in row.steps if k != "calls"))
        # 15 clarification
        asks = any(s[0] == "say" and s[1].rstrip().endswith("?") for goal in row.goals for s in goal[:-1])
        case("15 asks something before it goes on", row, asks)
        jobs = [g for g in row.goals if sum(len(s) for k, s in g if k == "calls") >= 3]
        for goal in jobs: case("15 says something before a longer job (goals of 3 or more calls)", row, any(a[0] == "say" and b[0] == "calls" for a, b in zip(goal, goal[1:])))
        case("15 says something with a call", row, "says_before_calling" in row.tags)
    report = {name: {"share": round(len(found[name]) / cases[name], 4), "of": cases[name]} for name in sorted(cases, key=lambda n: (int(n.split()[0]), n))}
    distinct = lambda texts: {"share": round(len(set(texts)) / max(len(texts), 1), 4), "of": len(texts)}
    report |= {"13 distinct openings, values masked": distinct(openings), "13 distinct later turns, values masked": distinct(later), "13 distinct endings, values masked": distinct(endings)}
    clocks = [datetime.datetime.fromisoformat(row.episode["clock"]) for row in rows]
    report["12 rows by weekday"] = {d: sum(c.weekday() == i for c in clocks) for i, d in enumerate(DAYS)}
    report["12 rows by hour"] = dict(sorted(collections.Counter(c.hour for c in clocks).items()))
    report["12 most on one weekday"] = {"share": round(max(report["12 rows by weekday"].values()) / len(rows), 4), "of": len(rows)}
    report["12 most in one hour"] = {"share": round(max(report["12 rows by hour"].values()) / len(rows), 4), "of": len(rows)}
    return report, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset"); parser.add_argument("--examples", type=int, default=0); parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    files = sorted(glob.glob(f"{options.dataset}/data/*.parquet"))
    if not files: sys.exit(f"found no data/*.parquet under {options.dataset}, expected a dataset of `diorama generate`")
    services = {}
    for w in (w for f in glob.glob(f"{options.dataset}/worlds/*.parquet") for w in pq.read_table(f).to_pylist()):
        domains = json.loads(w["world"])["domains"]
        services[w["world_id"]] = {api["name"]: d["domain"]["title"] for d in domains for api in d["apis"]}
    rows = [Row(r, services) for f in files for r in pq.read_table(f, columns=COLUMNS).to_pylist()]
    report, found = count(rows)
    if options.json: return print(json.dumps(report))
    for name, value in sorted(report.items(), key=lambda kv: (int(kv[0].split()[0]), kv[0])):
        print(f"{name}: " + (f"{value['share']:.1%} of {value['of']}" if "share" in value else " ".join(f"{k} {v}" for k, v in value.items())))
        if options.examples and found.get(name): print("   ", *found[name][:options.examples])


if __name__ == "__main__":
    main()
