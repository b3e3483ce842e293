"""A test run without reports ends as one of pytest's own protocol does."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.config import _prepareconfig

from grader.judging.running import Attempt, is_plain, run_phases

TESTS = """
import pytest

seen = []


@pytest.fixture
def thing():
    yield 1
    seen.append("down")


@pytest.fixture
def broken():
    raise RuntimeError("no fixture")


@pytest.fixture
def bad_end():
    yield 2
    raise RuntimeError("no end")


def test_passes(thing):
    assert thing == 1


def test_fails(thing):
    assert thing == 2


def test_without_fixture(broken):
    pass


def test_without_end(bad_end):
    pass


@pytest.mark.skip(reason="not now")
def test_skipped():
    pass


def test_skips_itself():
    pytest.skip("not here")


def test_expects_too_late(request):
    request.node.add_marker(pytest.mark.xfail(reason="no"))


def test_exits():
    pytest.exit("all over")


def test_leaves():
    raise SystemExit(3)


@pytest.mark.xfail
def test_expected_to_fail():
    pass


def test_in_parts(subtests):
    with subtests.test("one"):
        assert False
"""


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pytest.Function]:
    """The tests above, collected by pytest."""
    file = tmp_path_factory.mktemp("phases") / "test_them.py"
    file.write_text(TESTS, encoding="utf-8")
    options = [
        "-p",
        "no:terminal",
        "-p",
        "no:cacheprovider",
        "--capture=no",
        "--import-mode=importlib",
        "-c",
        "/dev/null",
    ]
    config = _prepareconfig([*options, f"--rootdir={file.parent}", str(file)])
    config._do_configure()
    session = pytest.Session.from_config(config)
    config.hook.pytest_sessionstart(session=session)
    config.hook.pytest_collection(session=session)
    return {item.name: item for item in session.items if isinstance(item, pytest.Function)}


def _run(items: dict[str, pytest.Function], name: str) -> Attempt:
    kept = Attempt(items[name])
    run_phases(items[name], None, kept)
    return kept


def test_a_test_that_passes_comes_to_the_end_of_each_phase(items: dict[str, pytest.Function]) -> None:
    kept = _run(items, "test_passes")
    assert (kept.error, kept.phases) == (None, {"setup", "call", "teardown"})


def test_a_test_can_run_again(items: dict[str, pytest.Function]) -> None:
    assert _run(items, "test_passes") == _run(items, "test_passes")


def test_fixtures_are_taken_down_after_a_failure_too(items: dict[str, pytest.Function]) -> None:
    seen = items["test_fails"].module.seen
    seen.clear()
    kept = _run(items, "test_fails")
    assert isinstance(kept.error, AssertionError)
    assert "assert 1 == 2" in str(kept.error)
    assert (kept.phases, seen) == ({"setup", "teardown"}, ["down"])


@pytest.mark.parametrize(
    ("name", "error", "reached"),
    [
        ("test_without_fixture", RuntimeError, {"teardown"}),
        ("test_without_end", RuntimeError, {"setup", "call"}),
        ("test_skipped", pytest.skip.Exception, {"teardown"}),
        ("test_skips_itself", pytest.skip.Exception, {"setup", "teardown"}),
        ("test_leaves", SystemExit, {"setup", "teardown"}),
    ],
)
def test_what_does_not_pass_lacks_a_phase(
    items: dict[str, pytest.Function], name: str, error: type[BaseException], reached: set[str]
) -> None:
    kept = _run(items, name)
    assert type(kept.error) is error
    assert kept.phases == reached


def test_one_that_comes_to_expect_its_failure_does_not_pass(items: dict[str, pytest.Function]) -> None:
    assert "call" not in _run(items, "test_expects_too_late").phases


def test_the_end_of_all_tests_passes_through(items: dict[str, pytest.Function]) -> None:
    with pytest.raises(pytest.exit.Exception):
        _run(items, "test_exits")
    items["test_exits"].session._setupstate.teardown_exact(None)  # as pytest's session does at its end


@pytest.mark.parametrize(
    ("name", "plain"),
    [("test_passes", True), ("test_skipped", True), ("test_expected_to_fail", False), ("test_in_parts", False)],
)
def test_what_a_report_decides_is_not_plain(items: dict[str, pytest.Function], name: str, plain: bool) -> None:
    assert is_plain(items[name]) is plain


def test_what_is_no_function_of_pytest_is_not_plain(items: dict[str, pytest.Function], tmp_path: Path) -> None:
    parent = items["test_passes"].session
    assert not is_plain(parent)  # type: ignore[arg-type]
