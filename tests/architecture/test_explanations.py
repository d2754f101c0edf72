"""Explanations are asked for by readers: nothing that decides or carries out decisions knows of them."""

from tests.architecture import sources

EXPLAINING = ("scheduler.core.counterfactuals", "scheduler.selectors.counterfactuals")
READERS = (
    "scheduler/core/counterfactuals/",
    "scheduler/selectors/counterfactuals.py",
    "xceweb/api/",
    "xceweb/dashboard/",
)


def test_no_round_can_be_broken_or_delayed_by_an_explanation():
    users = {
        sources.name(path)
        for path in sources.modules(*sources.PACKAGES)
        if any(name.startswith(EXPLAINING) for name in sources.imports(path))
    }

    assert users
    assert {name for name in users if not name.startswith(READERS)} == set()
