"""Reads the reference conversations of a dataset: the goals of each row, what its replies show, and which words of a
message are values of them.
"""
import collections
import dataclasses
import datetime
import json
import re

WORDS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
         "seventeen eighteen nineteen twenty").split()
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
BOUND = r"\b(?:than|least|most|under|over|up to|within|below|above|about|until|before|after|only)\s+[€$£]?$"
NO = r"\b(?:no|not|none|never|nothing|nobody|without|neither)\b|n't\b"


def ways(kind, value):
    """Ways to write a value, by the name of the style."""
    if kind == "date":
        day, month, week = value.day, MONTHS[value.month - 1], DAYS[value.weekday()]
        return {"day": f"{day} {month}", "week day": f"{week} {day} {month}", "day year": f"{day} {month} {value.year}",
                "week day year": f"{week} {day} {month} {value.year}", "month day": f"{month} {day}",
                "week, month day": f"{week}, {month} {day}", "iso": value.isoformat(), "week": week}
    if kind == "number":
        value = int(value) if value == int(value) else value
        words = {"word": WORDS[value], "Word": WORDS[value].capitalize()} if value in range(2, 21) else {}
        return {"grouped": f"{value:,}", "plain": str(value), "cents": f"{value:,.2f}"} | words
    return {"as is": value.strftime("%H:%M") if kind == "time" else value.replace("_", " ")}


def typed(value):
    """The kinds of value that a JSON value is, as (kind, value, whether it is a part of a moment)."""
    if isinstance(value, (bool, dict, list)) or value is None:
        return []
    if isinstance(value, (int, float)):
        return [("number", value, False)]
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return [("date", datetime.date.fromisoformat(value), False)]
    if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d|Z)?", value):
        at = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        return [("date", at.date(), True), ("time", at.time(), True)]
    if re.fullmatch(r"\d\d:\d\d", value):
        return [("time", datetime.time.fromisoformat(value), False)]
    return [("text", value, False)] if len(value) > 1 else []


def same(one, other):
    texts = isinstance(one, str) and isinstance(other, str)
    return one.replace("_", " ").casefold() == other.replace("_", " ").casefold() if texts else one == other


def places(words, text):
    """Where words stand in a text as words of their own."""
    ends = r"(?![\w]|[.,:]\d|-\w|[’']s\b)" if words[-1:].isalnum() else ""
    return [found.span() for found in re.finditer(rf"(?<![\w-])(?<!\d[.,:]){re.escape(words)}{ends}", text)]


def sentences(text):
    """The sentences of a text as spans, with the spaces behind them."""
    ends = [found.end() for found in re.finditer(r"(?<!\bDr)(?<!\bProf)(?<!\bNo)(?<!\bMr)(?<!\bSt)[.!?]\s+", text)]
    return list(zip([0] + ends, ends + [len(text)]))


def put(text, *changes):
    """A text with spans replaced, and an article before them fitted."""
    for start, end, words in sorted(changes, reverse=True):
        article = r"\1n " if words[:1] in tuple("aeioAEIO") else r"\1 "
        before = re.sub(r"\b([Aa])n? $", article, text[:start]) if words[:1].isalpha() else text[:start]
        text = before + words + text[end:]
    return text


# A value of a reply or an argument. `group` is the same for the field of other records, `around` are the objects that
# hold it, and `source` is read, write, asked or argument (of a read, a write), or name (of what a write is about).
Leaf = collections.namedtuple("Leaf", "kind value group record around source goal moment")


@dataclasses.dataclass
class Mention:
    """Words of a message that are a value."""
    start: int
    end: int
    text: str
    kind: str
    style: str
    leaves: list
    fact: bool = False  # it is asked for
    aim: bool = False  # the message is wrong with another value

    @property
    def value(self):
        return self.leaves[0].value


class Row:
    """A row with its goals, and what its replies show."""

    def __init__(self, row, world):
        self.id, self.domains, episode = row["id"], world["domains"], json.loads(row["episode"])
        self.seed, self.now = episode["session_seed"], datetime.date.fromisoformat(episode["clock"][:10])
        self.apis = {api["name"]: (api, domain) for domain in self.domains for api in domain["apis"]}
        self.calls, (checks, *more) = json.loads(row["gold_calls"]), json.loads(row["checks"])["variants"]
        texts = {role: [m["content"] for m in row["messages"] if m["role"] == role and m["content"]]
                 for role in ("user", "assistant", "tool")}
        self.replies = [json.loads(reply) for reply in texts["tool"]]
        self.goals, self.leaves, self.names, goal = [], [], {}, None
        for event in episode["events"]:
            goal = goal or {"calls": [], "users": [], "answer": "", "number": len(self.goals)}
            (what, which), = event.items()
            if what == "user":
                goal["users"].append(texts["user"][which])
            elif what == "say":
                goal["answer"] = texts["assistant"][which]
            elif what == "call":
                goal["calls"].append(which)
            elif what == "end":
                self.goals.append(goal)
                goal = None
        self.sure = not more and len(checks["goals"]) == len(self.goals) and len(self.replies) == len(self.calls)
        self.changed = {change["resource"]: change.get("goal", 0) for change in checks.get("changes", [])}
        for goal, check in zip(self.goals, checks["goals"]):
            writes = [at for at in goal["calls"] if self.writes(at)]
            done = check["outcome"] == "done"
            goal["write"] = done and bool(writes) and min(self.changed.values(), default=99) <= goal["number"]
            goal["facts"] = [fact for told in check.get("answer", []) for fact in self.facts(told)] if done else []
            goal["reason"] = check["refusal"][0] if not done and len(check.get("refusal", [])) == 1 else None
            goal["failed"] = any(self.refused(at) for at in goal["calls"])
            goal["matters"] = bool(goal["facts"] or goal["write"] or goal["reason"])
            goal["opened"] = re.match(r"(?:Sure|Of course|Thank|Sorry|I'm sorry|Certainly|Yes|No|Oh)\b", goal["answer"])
            for at in goal["calls"]:
                self.read(at, goal["number"], at in writes)
                for source in self.calls[at]["sources"].values() if at in writes else []:
                    if source.get("from") == "reply":  # the record that a key of a write comes from
                        holder = source["call"], "." + source["path"].rsplit(".", 1)[0] if "." in source["path"] else ""
                        self.leaves += [leaf._replace(source="name", goal=goal["number"]) for leaf in self.leaves if
                                        holder in leaf.around and self.names.get(leaf.record) == leaf.value]
        self.written = {leaf.value for leaf in self.leaves if leaf.source == "name"}

    def told(self, kind, value, style):
        """Whether people would write a value so: a weekday within a week, a day without its year within ten months."""
        far = abs((value - self.now).days) if kind == "date" else 0
        return far <= (7 if style == "week" else 300 if "year" not in style and style != "iso" else far)

    def made(self, at):
        """Whether a call is one of the world, and was not refused."""
        return self.calls[at]["api"] in self.apis and not self.refused(at)

    def writes(self, at):
        api, _ = self.apis[self.calls[at]["api"]] if self.made(at) else ({"method": "GET"}, None)
        return api["method"] != "GET" and "sign_in" not in api["behaviour"]

    def refused(self, at):
        reply = self.replies[at] if isinstance(self.replies[at], dict) else {}
        return isinstance(reply.get("status"), int) and reply["status"] >= 400 and "detail" in reply

    def facts(self, told):
        """What is asked for, as (kind, value, field)."""
        leaf = told.get("evidence", [{}])[0]
        for fact in told["fact"].get("items", [told["fact"]]):
            value = fact["minor"] / 10 ** fact["scale"] if fact["kind"] == "money" else fact.get("value")
            value = str(value) if fact["kind"] == "entity" else value
            for kind, value, _ in typed(value):
                yield kind, value, (leaf.get("resource"), leaf.get("field"), kind)

    def read(self, at, goal, write):
        """Collects the values of a call's arguments and of its reply."""
        if not self.made(at):
            return
        call, (api, domain) = self.calls[at], self.apis[self.calls[at]["api"]]

        def snake(key):
            return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()

        def walk(value, path, around, record, resource, field):
            if isinstance(value, dict):
                keys = {snake(key): item for key, item in value.items()}
                known = [n for n, resource in domain["resources"].items() if resource["key"] == next(iter(keys), None)]
                resource = known[0] if len(known) == 1 else None
                record = (resource, str(next(iter(value.values())))) if resource else (at, path)
                display = domain["resources"][resource].get("display") if resource else None
                names = [keys[n] for n in (display, "name", "title") if isinstance(keys.get(n), str)]
                self.names |= {record: name for name in names[:1]}
                for key, item in value.items():
                    walk(item, f"{path}.{key}", around | {(at, path), record}, record, resource, snake(key))
            elif isinstance(value, list):
                for number, item in enumerate(value):
                    walk(item, f"{path}[{number}]", around, record, resource, field)
            for kind, part, moment in typed(value):
                group = (resource, field, kind) if resource else (call["api"], re.sub(r"\[\d+\]", "[]", path), kind)
                self.leaves.append(Leaf(kind, part, group, record, around, "write" if write else "read", goal, moment))

        walk(self.replies[at], "", frozenset({at}), None, None, "")
        for name, value in call["arguments"].items():
            field = (api.get("parameters", {}).get(name) or {}).get("like", f"{call['api']}.{name}").split(".")
            for item in value if isinstance(value, list) else value.values() if isinstance(value, dict) else [value]:
                self.leaves += [Leaf(kind, part, (*field, kind), (at, name), frozenset({at}),
                                     "argument" if write else "asked", goal, moment)
                                for kind, part, moment in typed(item)]

    def field(self, leaf):
        """What a stored field is called, and how its values are written; nothing where it is not fit to be told."""
        resource, field, kind = leaf.group
        known = [d["resources"][resource] for d in self.domains if resource in d["resources"]]
        meta = known[0]["fields"].get(field, {}) if known and resource not in self.changed else {}
        label, unit, currency = meta.get("label", field.replace("_", " ")), meta.get("unit"), meta.get("currency")
        unit = None if unit and unit in label else unit
        odd = re.search(r"\b(?:id|number|code|year|birth|PIN|since|at|on|by|l\w+itude)$|^(?:year|accession)", label)
        odd = odd or leaf.moment or kind == "text" or set(meta) & {"ref", "fake", "generated"} or unit == "deg"
        if not meta or odd or field == known[0]["key"]:
            return None, None
        before = {"EUR": "€", "GBP": "£", "USD": "$"}.get(currency, "")
        after = {"JPY": " yen", "min": " minutes", "s": " seconds", "h": " hours", "%": "%"}.get(
            currency or unit, "" if before else f" {currency or unit}" if currency or unit else "")

        def written(value):
            style = next(style for style in ways(kind, value) if self.told(kind, value, style))
            style = "cents" if kind == "number" and currency and value != int(value) else style
            return f"{before}{ways(kind, value)[style]}{after}"
        return label, written

    def mentions(self, goal):
        """The values that the last message of a goal states, the longest first where they overlap."""
        text, texts, found = goal["answer"], collections.defaultdict(dict), []
        for leaf in self.leaves:
            for style, words in ways(leaf.kind, leaf.value).items() if leaf.goal <= goal["number"] else []:
                if self.told(leaf.kind, leaf.value, style):
                    texts[leaf.kind != "number", len(words), leaf.kind, words].setdefault(style, []).append(leaf)
        dates = [m.span() for m in re.finditer(rf"\b\d+ (?:{'|'.join(MONTHS)})\b|\b(?:{'|'.join(MONTHS)}) \d+\b", text)]
        for (_, _, kind, words), styles in sorted(texts.items(), reverse=True):
            for start, end in places(words, text):
                taken = [(m.start, m.end) for m in found] + (dates if kind == "number" else [])
                if not any(start < other and one < end for one, other in taken):
                    found.append(Mention(start, end, words, kind, *next(iter(styles.items()))))
        for mention in found:
            facts = [fact for fact in goal["facts"] if fact[0] == mention.kind and same(fact[1], mention.value)]
            asked = [leaf for leaf in mention.leaves if leaf.group in {fact[2] for fact in facts}]
            mention.leaves, mention.fact = asked or mention.leaves, bool(facts)
            sentence = next(text[start:end] for start, end in sentences(text) if start <= mention.start < end)
            sources = {leaf.source for leaf in mention.leaves if leaf.goal == goal["number"]}
            number = mention.kind != "text"
            told = goal["write"] and (sources & {"argument", "name"} or number and "write" in sources)
            beside = number and sources & {"read", "write"} and len({leaf.group for leaf in mention.leaves}) == 1 and \
                not places(mention.text, " ".join(goal["users"]))
            plain = not re.search(NO, sentence) and not re.search(BOUND, text[:mention.start])
            once = sum(m.kind == mention.kind and same(m.value, mention.value) for m in found) == 1
            mention.aim = once and "?" not in sentence and bool(mention.fact or plain and (told or beside))
        return sorted(found, key=lambda mention: mention.start)
