"""Derives labelled episodes from the reference conversations of a dataset, to measure how prose is graded.

    python derive.py POOL --out derived.jsonl [--seed 1] [--rows 200] [--per-kind 130]

Each episode makes the calls of a row's reference and ends one goal with an altered message; the other goals end as in
the reference. An alteration is made only where its label is certain: what replaces a value differs from it, stands
nowhere else in the message and is no right answer; what is negated tells of a write; what is added comes from a reply.
Which words of a message are values follows from the replies, arguments and checks of the row. The same seed gives the
same file. Each alteration has random numbers of its own, so that a stricter check changes no other episode.
"""
import argparse
import collections
import datetime
import json
import pathlib
import random
import re

import pyarrow.parquet as parquet

from references import NO, WORDS, Row, places, put, same, sentences, ways

OTHER_UNIT = {"minutes": "hours", "hours": "days", "seconds": "minutes", "km": "miles", "kg": "tonnes", "g": "kg",
              "grams": "kilos", "kcal": "kJ", "days": "weeks", "years": "months", "nights": "weeks", "cm": "m",
              "W": "kW", "°C": "°F"}
OTHER_CURRENCY = {"€": "£", "$": "€", "£": "€", "yen": "dollars", "dollars": "pounds", "euros": "dollars",
                  "pounds": "euros", "francs": "euros", "AUD": "EUR", "SGD": "EUR", "CHF": "EUR"}
SIGNS = {"€": ("euros", "EUR"), "£": ("pounds", "GBP"), "$": ("dollars", "USD")}
ENDED = r"\.(?:\s|$)|$| (?!at|for|with|in|by|from|on)\b"
AS_IT_CAME = r"\b(?:first|last|next|order|earliest|latest|respectively|most|best|least)\b|est\b"
SCOPE = r"\b(?:only|longer|still|already|yet|any|all|every|each|both|also|either|too|now|if|which|that)\b"
VERB = (r"\b(?:is|are|was|were|(?P<who>I|We)(?:['’]ve| have)(?= \w+(?:ed|en|nt|ut|et)\b)|(?:has|have) been"
        r"|[Ii]t['’]s|They['’]re|You['’]re)(?= )")
TIED = (r"\b(?:it|its|they|them|their|that|this|these|those|he|she|his|her|him|there|ones?|others?|also|too|either|then"
        r"|so|but|both|same|again|instead|each|more|now|which|I|you|your|because|yes|no|first|second|last|rest|another"
        r"|still|only)\b|[?!]")
MANY = r"^(?!number of ).*s\b"
FAULT = ("Sorry, the system is down at the moment, so I couldn't do it. Please try again later.",
         "I couldn't do that because of a technical fault on our side.")
ABSENT = ("I couldn't do that, because there is nothing of that name on record.",
          "Sorry, I couldn't find what you mean.", "You don't have the rights for that, so I couldn't do it.")
RIGHTS = ("I couldn't do that, because you aren't allowed to see this.", "Only managers may do that, so I had to stop.",
          "I couldn't do that, because it was cancelled already.", "That is locked by somebody else at the moment.")
OTHER_REASONS = {"not_found": FAULT + RIGHTS, "conflict": FAULT + ABSENT, "invalid": FAULT + ABSENT, "forbidden": FAULT,
                 "no_tool": FAULT}
# Kinds that need nothing but sentences: (label, kind, whether it fits a goal, how it is put, the sentences).
SAYINGS = (
    ("wrong", "write_denied", lambda goal: goal["write"], "{1}", (
        "I did not do that.", "I have not changed anything yet.", "I haven't done it yet.",
        "I did not go ahead with this, so nothing is different from before.",
        "Nothing has been done about this so far.", "I'm afraid that didn't go through. Everything is as it was.")),
    ("wrong", "write_taken_back", lambda goal: goal["write"], "{0} {1}", (
        "On second thoughts, I have undone that, so everything is as it was before.",
        "In the end I left everything as it was.", "Correction: this did not go through, and nothing was changed.",
        "No, wait, that failed. Nothing has been changed.", "Sorry, I was too fast there: I haven't done it yet.",
        "Actually, I did not do it after all.")),
    ("wrong", "done_for_fact", lambda goal: goal["facts"] and not goal["write"], "{1}", (
        "Done.", "All done.", "That's done.", "Done! Anything else?")),
    ("wrong", "done_though_refused", lambda goal: goal["reason"], "{1}", (
        "Done, that's taken care of.", "All right, I've done that for you.", "That's done. Is there anything else?",
        "It went through without a problem.", "Yes, I've seen to it.")),
    ("wrong", "refusal_without_reason", lambda goal: goal["reason"] in ("conflict", "invalid", "not_found"), "{1}", (
        "I'm sorry, I can't do that.", "I'm afraid that isn't possible.", "Sorry, that didn't work.",
        "Unfortunately I can't help you with that one.", "That's not possible, I'm sorry.")),
    *(("wrong", "refusal_other_reason", lambda goal, reason=reason: goal["reason"] == reason, "{1}", sentences)
      for reason, sentences in OTHER_REASONS.items()),
    ("right", "bare_refusal", lambda goal: goal["reason"] in ("no_tool", "forbidden") and not goal["failed"], "{1}", (
        "I'm sorry, I can't do that.", "I'm afraid I can't do that for you.", "No, I can't do that, I'm sorry.",
        "Sorry, that is not something I can do.")),
    ("right", "offer", lambda goal: goal["matters"] and "?" not in goal["answer"], "{0} {1}", (
        "Let me know if you need anything else.", "Is there anything else I can help you with?", "Anything else?",
        "Just tell me if there is more I can do.", "I'm here if you need more.")),
    ("right", "polite", lambda goal: goal["matters"] and not goal["reason"] and not goal["opened"], "{1} {0}", (
        "Thanks for waiting.", "Happy to help.", "Thank you for your patience.", "With pleasure.",
        "Thanks for asking.")),
    ("right", "polite", lambda goal: goal["reason"] and not goal["opened"], "{1} {0}", (
        "Thanks for your patience.", "Thank you for asking.", "Thanks for getting in touch.")),
    ("right", "polite_and_offer", lambda goal: goal["matters"] and not goal["opened"] and "?" not in goal["answer"],
     "Thank you for waiting. {0} {1}", ("Tell me if I can do anything else for you.", "Anything else I can do?")))


class Deriver:
    """The altered messages of a goal. A method is a kind, and gives every message that it could make."""

    def __init__(self, row, goal):
        self.row, self.goal, self.text, self.mentions = row, goal, goal["answer"], row.mentions(goal)
        self.aims = [m for m in self.mentions if m.aim and len(places(m.text, self.text)) == 1]
        self.shown = [leaf for leaf in row.leaves if leaf.goal <= goal["number"] and leaf.source in ("read", "write")]

    def stated(self, kind, value):
        return any(m.kind == kind and same(m.value, value) for m in self.mentions)

    def free(self, mention, value):
        """Another value in the style of a mention, where it differs from all that is said and from what is right."""
        words = ways(mention.kind, value).get(mention.style)
        right = any(fact[0] == mention.kind and same(fact[1], value) for fact in self.goal["facts"])
        told = words and self.row.told(mention.kind, value, mention.style)
        if not told or right or self.stated(mention.kind, value) or places(words, self.text):
            return []
        one, other = words.casefold(), mention.text.casefold()
        return [] if one in other or other in one else [words]

    def others(self, mention):
        """What other records have in the field of a mention."""
        groups, records = ({getattr(leaf, name) for leaf in mention.leaves} for name in ("group", "record"))
        unsure = mention.kind == "text" and not mention.fact and not self.goal["write"]
        if len(groups) != 1 or mention.style == "week" or unsure:
            return []
        return sorted({words for leaf in self.shown if leaf.group in groups and leaf.record not in records
                       and not (self.goal["write"] and leaf.value in self.row.written)
                       for words in self.free(mention, leaf.value)})

    def sign(self, mention):
        """The sign of a currency right before a number."""
        sign = self.text[mention.start - 1:mention.start]
        return sign if mention.kind == "number" and sign in SIGNS else ""

    def change(self, kinds, values):
        return [put(self.text, (m.start, m.end, words)) for m in self.aims if m.kind in kinds for value in values(m)
                for words in self.free(m, value)]

    # What makes a message wrong.

    def other_record(self):
        return [put(self.text, (m.start, m.end, words)) for m in self.aims for words in self.others(m)]

    def swapped(self):
        """Two values of one field whose records are named beside them, or two numbers that are asked for."""
        made, around = [], {id(m): {at for leaf in m.leaves for at in leaf.around} for m in self.mentions}
        for one, two in ((one, two) for at, one in enumerate(self.aims) for two in self.aims[at + 1:]):
            here, there = around[id(one)], around[id(two)]
            rest = [around[id(m)] for m in self.mentions if m not in (one, two)]
            named = all(any(near & apart for near in rest) for apart in (here - there, there - here))
            fields = [{leaf.group for leaf in m.leaves} for m in (one, two)]
            alike = (one.kind, one.style) == (two.kind, two.style) and one.style != "week" and one.kind != "text"
            asked = one.kind == "number" and one.fact and two.fact and not fields[0] & fields[1]
            if alike and (asked or fields[0] == fields[1] and named):
                made.append(put(self.text, (one.start, one.end, two.text), (two.start, two.end, one.text)))
        return made

    def off_by_one(self):
        return self.change(("number",), lambda m: [m.value + step for step in (-1, 1)
                                                   if 2 <= m.value < 10000 and m.value + step >= 2])

    def digits_exchanged(self):
        def values(m):
            pairs = re.finditer(r"(?=(\d)(,?)(\d))", m.text.split(".")[0]) if m.text[0].isdigit() else []
            texts = [m.text[:p.start()] + p[3] + p[2] + p[1] + m.text[p.end(3):] for p in pairs if p[1] != p[3]]
            return [float(text.replace(",", "")) for text in texts if text[0] != "0"]
        return self.change(("number",), values)

    def other_day(self):
        return self.change(("date",), lambda m: [m.value + datetime.timedelta(days) for days in (-2, -1, 1, 2)])

    def other_time(self):
        def values(m):
            minutes = [m.value.hour * 60 + m.value.minute + step for step in (-60, -30, -15, 15, 30, 60)]
            return [datetime.time(at // 60, at % 60) for at in minutes if 0 < at < 1440]
        return self.change(("time",), values)

    def measured(self, table):
        """A number with another unit or currency, where that is the word after it or the sign before it."""
        made = []
        for m in (m for m in self.aims if m.kind == "number" and m.value):
            word = re.match(r"\s?(°C|\w+)(?=[\s.,;:)]|$)", self.text[m.end:])
            if self.sign(m) in table:
                made.append((m.start - 1, m.start, table[self.sign(m)]))
            elif word and word[1] in table:
                made.append((m.end + word.start(1), m.end + word.end(1), table[word[1]]))
        return [put(self.text, change) for change in made]

    def other_unit(self):
        return self.measured(OTHER_UNIT)

    def other_currency(self):
        return self.measured(OTHER_CURRENCY)

    def negated(self):
        """A sentence that tells what a write did, with `not` in it."""
        made = []
        for start, end in sentences(self.text) if self.goal["write"] else []:
            sentence, verb = self.text[start:end], re.search(VERB, self.text[start:end])
            told = any(start <= m.start < end for m in self.aims) and not re.search(rf"{NO}|{SCOPE}|\?", sentence)
            if verb and told:
                words = f"{verb['who']} haven't" if verb["who"] else re.sub(r"( been)?$", r" not\1", verb[0], count=1)
                if not any(m.start < start + verb.end() and start + verb.start() < m.end for m in self.mentions):
                    made.append(put(self.text, (start + verb.start(), start + verb.end(), words)))
        return made

    def beside(self, *forms):
        return [put(self.text, (m.end, m.end, form.format(self.sign(m) + words))) for m in self.aims if m.fact
                for words in self.others(m) for form in forms]

    def joined_by_or(self):
        return self.beside(" or {}")

    def hedged(self):
        return self.beside(" or perhaps {}", " or maybe {}", ", or possibly {}")

    def corrected(self):
        return [f"{self.text} {form.format(self.sign(m) + m.text, self.sign(m) + words)}" for form in (
            "Actually, it is {1}, not {0}.", "Correction: that should be {1}, not {0}.",
            "No, wait, it isn't {0} but {1}.",
            "Sorry, I misread that: {1} is right, not {0}.", "I have to correct myself: it's {1} rather than {0}.")
            for m in self.aims for words in self.others(m)]

    def left_out(self):
        return [put(self.text, (items[gone][1], items[gone + 1][1], "")) for items in self.lists()
                if all(m.fact and m.aim for m, _, _ in items) for gone in range(len(items) - 2)]

    def deed_other_argument(self):
        """The message claims that a write was made with another argument."""
        def values(m):
            leaves = [leaf for leaf in m.leaves if leaf.source == "argument" and leaf.goal == self.goal["number"]]
            if m.kind == "text":
                fields = [domain["resources"].get(leaf.group[0], {}).get("fields", {}).get(leaf.group[1], {})
                          for leaf in leaves for domain in self.row.domains]
                known = [field.get("enum", []) for field in fields]
                return [item for items in known if m.value in items for item in items if isinstance(item, str)]
            steps = (1, 2, 5) if m.kind == "number" and m.value != 1 else ()
            steps = [datetime.timedelta(days) for days in (1, 3)] if m.kind == "date" else steps
            return [m.value + step for step in steps] if leaves else []
        return self.change(("text", "number", "date"), values) if self.goal["write"] else []

    # What leaves a message right.

    def formatted(self, kind, forms):
        """A value in another format. A form may take in the sign before the value and a word after it."""
        made = [(m.start - len(self.sign(m)), m.end + more, words) for m in self.mentions if m.kind == kind
                and len({leaf.value for leaf in m.leaves}) == 1 for more, words in forms(m, self.text[m.end:])]
        return [put(self.text, change) for change in made if put(self.text, change) != self.text]

    def date_format(self):
        def forms(m, after):
            near = ["week"] if 0 < (m.value - self.row.now).days < 7 and not re.match(r",? (?:at )?\d", after) else []
            styles = ["week day", "day year", "month day", "week, month day", "iso", "week day year"] + near
            return [(0, ways("date", m.value)[style]) for style in styles if m.style in ("day", "week day", "week")]
        return self.formatted("date", forms)

    def time_format(self):
        def forms(m, after):
            hour, minute, half = m.value.hour % 12 or 12, f"{m.value.minute:02}", "am" if m.value.hour < 12 else "pm"
            short = [f"{hour} {half}"] if minute == "00" else []
            free = not re.match(r"\s?(?:am|pm|o'clock|[-–])", after)
            return [(0, words) for words in [f"{hour}:{minute} {half}", f"{hour}:{minute}{half}"] + short if free]
        return self.formatted("time", forms)

    def number_format(self):
        def forms(m, after):
            words = [m.text.replace(",", "")] if "," in m.text else []
            words += [str(m.value)] if m.style in ("word", "Word") else []
            words += [WORDS[m.value]] if m.value in range(2, 13) and re.match(r" [a-z]{3,}s\b(?! and)", after) else []
            return [(0, form) for form in words if not self.sign(m) and m.start]
        return self.formatted("number", forms)

    def money_format(self):
        def forms(m, after):
            if self.sign(m):
                cents = [f"{self.sign(m)}{m.text}.00"] if "." not in m.text else []
                (word, code), one = SIGNS[self.sign(m)], m.value == 1
                return [(0, form) for form in [f"{m.text} {word[:-1] if one else word}", f"{code} {m.text}"] + cents]
            yen = [(4, form) for form in (f"¥{m.text}", f"JPY {m.text}") if re.match(r" yen\b", after)]
            return yen + ([(4, f"{after[1:4]} {m.text}")] if re.match(r" (?:AUD|SGD|CHF)\b", after) else [])
        return self.formatted("number", forms)

    def lists(self):
        """Lists of names or days of one field, as (mention, start, end) of each item with what stands in brackets."""
        found = []
        for m in self.mentions:
            start, end = m.start, m.end + len((re.match(r" \([^()]*\)", self.text[m.end:]) or [""])[0])
            last = found[-1][-1] if found else None
            joint = self.text[last[2]:start] if last else ""
            alike = last and {leaf.group for leaf in m.leaves} & {leaf.group for leaf in last[0].leaves}
            if alike and joint in (", ", " and ", ", and ") and " and" not in self.text[found[-1][0][2]:last[1]]:
                found[-1].append((m, start, end))
            elif m.kind in ("text", "date") and not (last and start < last[2]):
                found.append([(m, start, end)])
        closed = [items for items in found if len(items) > 1 and re.match(ENDED, self.text[items[-1][2]:])]
        return [items for items in closed if self.text[items[-2][2]:items[-1][1]] in (" and ", ", and ")]

    def reordered_list(self):
        lists, said = self.lists(), self.text + " ".join(self.goal["users"])
        if len(lists) != 1 or re.search(AS_IT_CAME, said):
            return []
        words = [self.text[start:end] for _, start, end in lists[0]]
        return [put(self.text, *[(start, end, new) for (_, start, end), new in zip(lists[0], words[::-1])])]

    def bulleted(self):
        made = []
        for items in self.lists():
            before, after = self.text[:items[0][1]].rstrip(), self.text[items[-1][2]:]
            if after[:2].strip() == "." and re.search(r"(?<!\ba)(?<!\bthe)(?<!\bon)(?<!\bto)(?<!\bof)[a-z]:?$", before):
                points = "\n".join(f"- {self.text[start:end]}" for _, start, end in items)
                made.append(f"{before.rstrip(':')}:\n\n{points}\n\n{after[1:].strip()}".strip())
        return made

    def bold(self):
        spans = [(m.start - len(self.sign(m)), m.end) for m in self.mentions if m.aim]
        chosen = [spans[:1], spans] if not self.goal["reason"] and spans else []
        return [put(self.text, *[(at, end, f"**{self.text[at:end]}**") for at, end in some]) for some in chosen]

    def quoted(self):
        names = [m for m in self.mentions if m.kind == "text" and m.text in self.row.names.values()]
        text = put(self.text, *[(m.start, m.end, f'"{m.text}"') for m in names])
        return [text] if names and self.goal["matters"] else []

    def reordered(self):
        parts = [self.text[start:end].strip() for start, end in sentences(self.text)]
        told = all(any(m.aim and m.text in part for m in self.mentions) for part in parts)
        both = all(part.startswith("It ") for part in parts)  # of the same thing, which the user named
        tied = any(re.search(TIED, part[3:] if both else part, re.I) for part in parts)
        return [f"{parts[1]} {parts[0]}"] if len(parts) == 2 and told and not tied else []

    def true_detail(self):
        return self.detail(True)

    def false_detail(self):
        return self.detail(False)

    def detail(self, right):
        """The message with a sentence about a record of the replies: its own value, or that of another record."""
        own, records, made, names = collections.defaultdict(set), collections.defaultdict(set), set(), self.row.names
        said = self.text + " " + " ".join(self.goal["users"])
        for leaf in self.shown:
            own[leaf.record, leaf.group].add(leaf.value)
            records[names.get(leaf.record)].add(leaf.record)
        for leaf in self.shown if self.goal["matters"] and not self.goal["reason"] and "?" not in self.text else []:
            name, (label, written) = names.get(leaf.record), self.row.field(leaf)
            if not label or not name or len(records[name]) > 1 or len(own[leaf.record, leaf.group]) > 1:
                continue
            others = [other.value for other in self.shown if other.group == leaf.group and other.value != leaf.value]
            for value in [leaf.value] if right else others:
                if value and not self.stated(leaf.kind, leaf.value) and not self.stated(leaf.kind, value):
                    made.add((bool(places(name, said)), label, name, written(value)))
        return [f"{self.text} {form.format(*told)}" for near, *told in sorted(made) if near for form in (
            ("One more detail about {1}: {0} {2}.", "Also on record for {1}: {0} {2}.") if re.search(MANY, told[0]) else
            ("The {0} of {1} is {2}.", "By the way, the {0} of {1} is {2}.", "For {1}, the {0} is {2}."))]


WRONG = ("other_record swapped off_by_one digits_exchanged other_day other_time other_unit other_currency negated "
         "joined_by_or hedged corrected left_out deed_other_argument false_detail").split()
RIGHT = ("date_format time_format number_format money_format reordered_list bulleted bold quoted reordered "
         "true_detail").split()


def episodes(row, seed, most=2):
    """The episodes that can be derived from a row, each with a number that decides whether it is kept."""
    for goal in row.goals:
        deriver, seen = Deriver(row, goal), set()
        said = [(label, kind, [form.format(goal["answer"], words) for words in texts])
                for label, kind, fits, form, texts in SAYINGS if fits(goal)]
        said += [(label, kind, getattr(deriver, kind)()) for label, kinds in (("wrong", WRONG), ("right", RIGHT))
                 for kind in kinds]
        for label, kind, texts in said:
            drawn = random.Random(f"{seed}/{row.id}/{goal['number']}/{kind}")
            order = [drawn.random() for _ in range(most)]
            once = kind in ("bold", "quoted", "true_detail") or kind not in WRONG + RIGHT
            for number, text in zip(order, drawn.sample(texts, min(1 if once else most, len(texts)))):
                if text in seen:
                    continue
                seen.add(text)
                goals = [{"calls": [{"api": row.calls[at]["api"], "arguments": row.calls[at]["arguments"]}
                                    for at in other["calls"]],
                          "answer": text if other is goal else other["answer"]} for other in row.goals]
                yield number, {"task": row.id, "seed": row.seed, "label": label, "kind": kind, "goals": goals}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("pool", type=pathlib.Path, help="folder of the dataset")
    options.add_argument("--out", type=pathlib.Path, required=True, help="file to write")
    options.add_argument("--seed", default="1", help="seed of all that is drawn")
    options.add_argument("--rows", type=int, default=200, help="rows to take")
    options.add_argument("--per-kind", type=int, default=130, help="most episodes of a kind")
    given = options.parse_args()
    worlds = {path.stem: json.loads(path.read_text()) for path in (given.pool / "worlds").glob("*.json")}
    tables = [parquet.read_table(path) for path in sorted((given.pool / "data").glob("*.parquet"))]
    rows = [row for table in tables for row in table.to_pylist()]
    rows = random.Random(given.seed).sample(rows, min(given.rows, len(rows)))
    rows = [Row(row, worlds[row["world_id"]]) for row in rows]
    found = sorted((item for row in rows if row.sure for item in episodes(row, given.seed)), key=lambda item: item[0])
    counts, kept = collections.Counter(), []
    for _, episode in found:
        counts[episode["label"], episode["kind"]] += 1
        kept += [episode] if counts[episode["label"], episode["kind"]] <= given.per_kind else []
    kept.sort(key=lambda episode: (episode["task"], episode["label"], episode["kind"]))
    given.out.write_text("".join(json.dumps(episode, ensure_ascii=False) + "\n" for episode in kept))
    for (label, kind), count in sorted(counts.items()):
        print(f"{label} {kind:<26} {min(count, given.per_kind)} of {count}")
    print(dict(collections.Counter(episode["label"] for episode in kept)))


if __name__ == "__main__":
    main()
