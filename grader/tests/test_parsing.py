"""What the parser refuses reads as every other error does, and says where its help is."""

from __future__ import annotations

import pytest

from grader.tests.support.command import Place


@pytest.mark.parametrize(
    ("arguments", "message", "asks"),
    [
        (("watchh", "s01"), "no such command 'watchh'. Did you mean 'watch'?", "grader -h"),
        (("check", "--seed", "x"), "invalid value for '--seed': 'x' is not a whole number", "grader check -h"),
        (("check", "--row"), "option '--row' requires an argument", "grader -h"),
        (("class", "grade"), "missing argument 'SUBMISSIONS'", "grader class grade -h"),
        (("course", "verify", "--jobs", "0"), "invalid value for '--jobs': 0 is not", "grader course verify -h"),
    ],
)
def test_a_refused_command_line_is_an_error_as_others_are(
    place: Place, arguments: tuple[str, ...], message: str, asks: str
) -> None:
    done = place.run(*arguments)
    assert (done.code, done.out) == (2, "")
    told = " ".join(done.err.split())
    assert told.startswith(f"error: {message}") and told.endswith(f"hint: `{asks}` shows what it takes.")


@pytest.mark.parametrize("group", ["class", "course", "keys", "ci"])
def test_a_group_without_a_command_shows_its_help(place: Place, group: str) -> None:
    done = place.run(group)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Usage: grader {group} ") and "\nCommands:\n" in done.err


def test_an_option_that_is_nearly_one_names_that(place: Place) -> None:
    assert "--verbose" in place.run("check", "--verbos").err


@pytest.mark.parametrize("arguments", [("--help",), ("check", "-h"), ("--version",)])
def test_what_the_parser_prints_by_itself_ends_well(place: Place, arguments: tuple[str, ...]) -> None:
    done = place.run(*arguments)
    assert (done.code, done.err) == (0, "") and done.out
