"""What docs/langchain.md has, driven as a reader of it would: the modules of the
page are in the working directory. The arguments are the server's. On stdout, one
JSON object."""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from agent import ask, make_agent
from skills import open_skills


class Scripted(BaseChatModel):
    """Activates a skill, runs its script, and repeats what the script said."""

    seen: list = []
    tools: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **_):
        self.tools = [tool.name for tool in tools]
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        self.seen = messages
        answers = [message for message in messages if isinstance(message, ToolMessage)]
        script = [
            {"name": "activate", "args": {"name": "notes"}},
            {"name": "exec", "args": {"name": "notes", "script": "scripts/add.sh", "args": ["milk"]}},
            {"name": "activate", "args": {"name": "no-such-skill"}},
        ]
        if len(answers) < len(script):
            call = {**script[len(answers)], "id": f"call-{len(answers)}", "type": "tool_call"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            message = AIMessage(content=json.dumps([[answer.status, text(answer.content)] for answer in answers]))
        return ChatResult(generations=[ChatGeneration(message=message)])


def text(content):
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def conversation(answer, model):
    return {
        "answers": json.loads(answer),
        "tools": model.tools,
        "system": next(message.content for message in model.seen if isinstance(message, SystemMessage)),
    }


def failure(call):
    try:
        return text(call())
    except Exception as error:  # Whatever it is, the test wants to see it.
        return f"{type(error).__name__}: {error}"


def main():
    question = {"messages": [("user", "Note that I need milk.")]}
    model = Scripted()
    invoked = conversation(ask(model, question["messages"][0][1], *sys.argv[1:]), model)
    with open_skills(transport="stdio", command="skills-mcp", args=sys.argv[1:]) as skills:
        named = {tool.name: tool for tool in skills.skill_tools()}
        model = Scripted()
        awaited = conversation(asyncio.run(make_agent(model, skills).ainvoke(question))["messages"][-1].content, model)
        with ThreadPoolExecutor() as pool:
            together = list(pool.map(lambda guest: text(named["greet"].invoke({"arguments": guest})), ["Ada", "Bob", "Cleo"]))
        activate = next(tool for tool in skills.tools if tool.name == "activate")
        print(json.dumps({
            "instructions": skills.instructions,
            "skills": [[tool.name, tool.description] for tool in named.values()],
            "invoked": invoked,
            "awaited": awaited,
            "together": together,
            "failure": failure(lambda: activate.invoke({"name": "no-such-skill"})),
        }))


main()
