"""
Migrations that let the code before them go on serving, since old and new run side by side (P18).

Each only adds: what goes away is first no longer used, and dropped a release later, on the list below.
"""

import itertools

import pytest
from django.db import connection, migrations, models
from django.db.migrations import loader

#: The last migration of the first release; each later one runs while the code before it still serves.
RELEASED = "0003_session_that_ended_holds_nothing"
#: Migrations that may drop what the release before them no longer used: name -> what.
DROPS: dict[str, str] = {
    "0017_output_page_by_rank": "uniqueness of pages of output whatever their node; pages are in no release yet",
}


@pytest.fixture(scope="module")
def plan():
    """Return the migrations with the state of the models before each, in order."""
    graph = loader.MigrationLoader(None)
    (last,) = graph.graph.leaf_nodes("scheduler")
    names = [name for app, name in graph.graph.forwards_plan(last) if app == "scheduler"]
    return [
        (name, graph.get_migration("scheduler", name), graph.project_state(("scheduler", before)))
        for before, name in itertools.pairwise(names)
    ]


def later(plan):
    """Return those that come after the first release."""
    return [entry for entry in plan if entry[0] > RELEASED]


def is_harmless(operation, state):
    """Say whether code that does not know of an operation can go on reading and writing after it."""
    match operation:
        case migrations.CreateModel() | migrations.AddIndex() | migrations.AlterModelOptions():
            return True
        case migrations.AddField(field=models.ManyToManyField()):
            return True
        case migrations.AddField(field=field):
            return field.null or field.has_db_default()
        case migrations.AlterField(field=new):
            model = operation.model_name_lower
            return _is_wider(state.models["scheduler", model].fields[operation.name], new)
    return False


def _is_wider(old, new):
    return type(old) is type(new) and _has_same_column(old, new) and (new.null or not old.null)


def _has_same_column(old, new):
    if isinstance(new, models.ForeignKey):  # its column is that of what it points to, which no state resolves
        return old.remote_field.model == new.remote_field.model
    return old.db_type(connection) == new.db_type(connection) or (old.max_length or 0) < (new.max_length or 0)


def test_each_migration_since_the_release_leaves_the_code_before_it_running(plan):
    harmful = [
        f"{name}: {operation.describe()}"
        for name, migration, state in later(plan)
        for operation in migration.operations
        if name not in DROPS and not is_harmless(operation, state)
    ]

    assert later(plan)
    assert harmful == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("round", "base"),
        migrations.RenameField("round", "base", "root"),
        migrations.DeleteModel("Round"),
        migrations.AddField("round", "more", models.IntegerField()),
        migrations.AddField("round", "more", models.IntegerField(default=0)),
        migrations.AlterField("round", "outline", models.BinaryField()),
        migrations.AlterField("round", "number", models.CharField(max_length=9)),
        migrations.RunSQL("SELECT 1"),
    ],
    ids=lambda operation: operation.describe(),
)
def test_what_the_code_before_would_stumble_over_is_seen(plan, operation):
    assert not is_harmless(operation, plan[-1][2])


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("round", "more", models.IntegerField(null=True)),
        migrations.AddField("round", "more", models.IntegerField(db_default=0)),
        migrations.AlterField("round", "number", models.PositiveBigIntegerField(null=True)),
    ],
    ids=lambda operation: operation.describe(),
)
def test_what_only_adds_is_let_through(plan, operation):
    assert is_harmless(operation, plan[-1][2])
