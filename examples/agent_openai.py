"""The same agent with the `openai` package: only the way to ask the model is another.

    diorama serve --tasks DATASET
    OPENAI_API_KEY=... python agent_openai.py --base-url https://api.openai.com --model NAME --tasks 20
"""

import os

from openai import OpenAI

from agent_requests import main


def chat(base_url, model):
    """Asks through the client, which also retries."""
    client = OpenAI(base_url=f"{base_url}/v1", api_key=os.environ.get("OPENAI_API_KEY", "none"))

    def ask(messages, tools):
        reply = client.chat.completions.create(model=model, messages=messages, tools=tools, temperature=0)
        return reply.choices[0].message.model_dump(exclude_none=True)

    return ask


if __name__ == "__main__":
    main(chat)
