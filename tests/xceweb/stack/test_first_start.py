import pytest

from xceweb.stack import datadir, errors, first_start, services


@pytest.fixture
def ground(tmp_path):
    directory = datadir.open_at(tmp_path / "data", None)
    return services.Ground(directory, None, services.base_environment(directory))


def test_the_nodes_of_this_machine_are_those_whose_keys_are_here(ground):
    for node in ("b", "a"):
        (ground.directory.agents / node).mkdir()
    (ground.directory.agents / "a" / "key.json").touch()

    assert first_start.nodes(ground.directory) == ["a"]


def test_a_command_that_fails_is_named_with_its_last_words(ground):
    with pytest.raises(errors.StackError, match=r"DATABASE_URL is not set.*more in .*commands\.log"):
        first_start.run_commands(ground, [["migrate"]])
