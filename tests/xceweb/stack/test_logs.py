from xceweb.stack import logs


def test_a_log_above_the_limit_is_copied_aside_and_emptied(tmp_path):
    log = tmp_path / "web.log"
    log.write_text("x" * 20)

    assert logs.rotate(tmp_path, limit_bytes=10) == ["web.log"]
    assert log.read_text() == ""
    assert (tmp_path / "web.log.1").read_text() == "x" * 20


def test_a_log_within_the_limit_stays(tmp_path):
    (tmp_path / "web.log").write_text("x" * 10)

    assert logs.rotate(tmp_path, limit_bytes=10) == []


def test_the_oldest_copy_goes_when_there_are_enough(tmp_path):
    for text in "abcde":
        (tmp_path / "web.log").write_text(text * 20)
        logs.rotate(tmp_path, limit_bytes=10)

    assert [(tmp_path / f"web.log.{number}").read_text()[0] for number in (1, 2, 3)] == ["e", "d", "c"]
    assert not (tmp_path / "web.log.4").exists()


def test_a_writer_goes_on_in_the_emptied_file(tmp_path):
    log = tmp_path / "web.log"
    with log.open("a") as writer:
        writer.write("x" * 20)
        writer.flush()
        logs.rotate(tmp_path, limit_bytes=10)
        writer.write("after")

    assert log.read_text() == "after"
