"""The steps from an empty installation to the first session, each with the commands that take it."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models

_IMPORT = (
    "from scheduler import models; from scheduler.services import actors, nodes, people, queues, setup; "
    "me = actors.of_command('shell')"
)
_GROUP = "group = models.ResourceGroup.objects.get(slug='main')"
#: Statements of each step, run one after the other in one shell command.
GROUP = (_IMPORT, "setup.create_group(me, 'main')")
QUEUE = (_IMPORT, _GROUP, "queues.create_queue(me, 'normal', groups=[group])")
NODE = (_IMPORT, _GROUP, "nodes.create_node(me, 'node-1', group, capacity={'cpu': 8000, 'mem': 32 << 30})")
PERSON = (
    _IMPORT,
    _GROUP,
    "import getpass; user = people.create_user(me, 'ada', password=getpass.getpass())",
    "people.set_role(me, group, 'submitter', user=user)",
)


def load() -> dict[str, Any]:
    """Return the context of ``dashboard/first_steps.html``. Six queries."""
    steps = [_group(), _queue(), _node(), _agent(), _person(), _session()]
    return {"steps": steps, "done": sum(step["is_done"] for step in steps)}


def shell(statements: tuple[str, ...]) -> str:
    """Return the command line that runs statements in the installation's shell."""
    return f'bin/manage shell -c "{"; ".join(statements)}"'


def _step(title: str, text: str, *, is_done: bool, commands: tuple[str, ...] = ()) -> dict[str, Any]:
    key = title.split()[-1].lower()
    shown = [{"id": f"command-{key}-{number}", "text": line} for number, line in enumerate(commands, 1)]
    return {"title": title, "text": text, "is_done": is_done, "commands": shown, "link": None}


def _group() -> dict[str, Any]:
    return _step(
        "Make a resource group",
        "A group is a set of nodes with one preemption switch, which is **off** at first.",
        is_done=models.ResourceGroup.objects.exists(),
        commands=(shell(GROUP),),
    )


def _queue() -> dict[str, Any]:
    return _step(
        "Make a queue",
        "Sessions are submitted to a queue; it serves one or more groups.",
        is_done=models.Queue.objects.exists(),
        commands=(shell(QUEUE),),
    )


def _node() -> dict[str, Any]:
    return _step(
        "Add a node",
        "Say what it has: **cpu** in thousandths of a core, **mem** in bytes, **cuda.device** as a count.",
        is_done=models.Node.objects.exists(),
        commands=(shell(NODE),),
    )


def _agent() -> dict[str, Any]:
    return _step(
        "Start its agent",
        "The agent signs its reports with a key of its node. The command writes the key and says how to start it.",
        is_done=models.AgentStatus.objects.filter(last_report_at__isnull=False).exists(),
        commands=("bin/manage agent_enroll node-1 --key-file node-1.key.json",),
    )


def _person() -> dict[str, Any]:
    return _step(
        "Let people in",
        "A person sees a group only with a role in it. You may go on alone: administrators see everything.",
        is_done=models.GroupRole.objects.exists(),
        commands=(shell(PERSON),),
    )


def _session() -> dict[str, Any]:
    step = _step(
        "Submit a session",
        "Any command will do: **sleep 30** is enough to see it start, run and end.",
        is_done=models.Session.objects.exists(),
    )
    return {**step, "link": {"url": urls.reverse("dashboard:session-submit"), "label": "Submit a session"}}
