"""A whole stack whose broker is RabbitMQ."""

import json

import pytest

from tests.scheduler.agent import rabbit
from tests.system import stack as stacks

pytestmark = [
    pytest.mark.system,
    pytest.mark.night,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not rabbit.is_installed(), reason=rabbit.WHY_NOT),
]
_COUNT = """
import json
from scheduler import models
print(json.dumps([
    models.AgentStatus.objects.filter(hello_at__isnull=False).count(),
    models.Session.objects.filter(state='running').count(),
    models.Session.objects.filter(state='terminated', result='success').count(),
]))
"""


@pytest.fixture
def broker(tmp_path):
    one = rabbit.Rabbit(tmp_path / "rabbit")
    one.up()
    yield one
    one.down()


def test_the_demo_cluster_lives_over_rabbitmq(broker, data_dir):
    with stacks.running(data_dir, environ={"BROKER_URL": broker.url(rabbit.CONTROLLER)}) as stack:

        def counts():
            return json.loads(stack.manage("shell", "-v0", "-c", _COUNT).stdout)

        greeted, running, _ = stacks.until(
            lambda: (found := counts())[1] > 1 and found, what="sessions that run", deadline_s=120
        )
        stacks.until(lambda: counts()[2], what="a session that has ended", deadline_s=150)

    assert greeted == 4
    assert running > 1
