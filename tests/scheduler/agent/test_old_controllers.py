"""The agent of today with a controller that speaks the first version of the protocol, from frozen data (P18)."""

import itertools

from scheduler.agent import processes
from tests.scheduler.agent import bench as benches
from tests.scheduler.protocol import first_version


class FirstController:
    """Sends frozen commands, and reads the answers with the frozen reader."""

    def __init__(self, bench):
        self.bench = bench
        self.session = benches.new_id()
        self._seq = itertools.count(1)

    async def ask(self, kind, answer, sample=0, **changes):
        """Send a frozen command about the session; return the body of its answer of a kind."""
        command_id = benches.new_id()
        about = {"command_id": command_id, "session": self.session, "epoch": 1}
        body = first_version.bodies(kind)[sample] | about | changes
        self.tell(body)
        await self.bench.until(lambda: self.answers(answer, command_id), f"{answer} to {kind}")
        return self.answers(answer, command_id)[0]

    def tell(self, body):
        text = first_version.seal(body, boot="controller", seq=next(self._seq))
        self.bench.agent.on_command(text)

    def answers(self, kind, command_id):
        return [one for one in self.heard() if (one["type"], one["command_id"]) == (kind, command_id)]

    def heard(self):
        """Everything that the agent has said, as the first version reads it."""
        return [first_version.read(text) for text in self.bench.wire.texts]


async def test_p18_a_session_lives_its_whole_life_under_a_controller_of_the_first_version(bench):
    controller = FirstController(bench)
    started = await controller.ask("start", "started")
    stopped = await controller.ask("stop", "stopped")
    state = processes.look(started["pid"]).state
    resumed = await controller.ask("resume", "resumed", epoch=2)
    page = await controller.ask("output-request", "output-page", epoch=1)
    ended = await controller.ask("kill", "ended", -1, epoch=2)
    waiting = [list(number) for number in bench.memory.book.outbox]
    controller.tell(first_version.bodies("ack")[0] | {"reports": waiting})
    await bench.until(lambda: not bench.memory.book.outbox, "all is acknowledged")

    assert [member["state"] for member in stopped["members"]] == [state] == ["T"]
    assert (resumed["epoch"], page["eof"], ended["signal"]) == (2, True, 9)
    assert {"hello", "heartbeat"} <= {one["type"] for one in controller.heard()}


async def test_p18_what_cannot_be_done_is_said_in_the_words_of_the_first_version(bench):
    controller = FirstController(bench)
    await controller.ask("stop", "gone")
    await controller.ask("withdraw", "gone")
    await controller.ask("start", "start-failed", argv=["/no/such/program"], epoch=2)
    await controller.ask("cancel-start", "start-refused", epoch=3)
    refused = await controller.ask("start", "start-refused", epoch=3)

    assert refused["reason"] == "cancelled"
