"""Entries of a folder held against the roster of a class: whose they are, of which team, and who handed in nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from grader.gradebook.intake.arrivals import Arrival
from grader.gradebook.intake.doubts import Doubt
from grader.gradebook.intake.roster import FILE, keys, sortable, squeezed
from grader.gradebook.records import Member
from grader.submission.files import folded, shown

_COPY = re.compile(r"(.+?)(?: ?\([0-9]{1,3}\)|[ _-]copy)", re.DOTALL | re.IGNORECASE)
_NUMBERS = {"canvas": "canvas_id", "moodle": "moodle_id", "gradescope": "gradescope_id"}


def matched(arrivals: Iterable[Arrival], roster: Sequence[Member], named: Sequence[Member] = ()) -> Iterator[Arrival]:
    """Yield what arrived by the names of a roster, and an empty arrival for each student from whom nothing came.

    Without a roster all keep their names. What is of a team is each member's; what is nobody's stays, with a doubt.
    named are students as the export itself describes them.
    """
    found = list(arrivals)
    if not roster:
        yield from _with_copies(found)
        return
    register = _Register(roster)
    described = {each.student: each for each in named}
    came: set[str] = set()
    for arrival in found:
        members = register.of(arrival, described.get(arrival.student))
        came |= {member.student for member in members}
        if members:
            yield from (_as(arrival, member, len(members) > 1) for member in members)
        else:
            what = f"{shown(arrival.student)} is not in the roster"
            remedy = (
                f"Add them to {FILE}, or name the file after a student, a login, an e-mail address or a team of it."
            )
            yield replace(arrival, is_known=False, doubts=(*arrival.doubts, Doubt("unknown", what, remedy)))
    for member in roster:
        if member.student not in came:
            yield Arrival(member.student, (), _identity(member))


def _with_copies(arrivals: Sequence[Arrival]) -> Iterator[Arrival]:
    """Yield arrivals, with a doubt where a name is another's as a browser changes it: ada (1) beside ada."""
    names = {folded([each.student]) for each in arrivals}
    for each in arrivals:
        match = _COPY.fullmatch(each.student)
        if match and folded([match[1]]) in names:
            what = (
                f"{shown(each.student)} may be a second file of {shown(match[1])}, and counts as a student of its own"
            )
            each = replace(each, doubts=(*each.doubts, Doubt("note", what, "Keep one of the two.")))
        yield each


def _as(arrival: Arrival, member: Member, is_team: bool) -> Arrival:
    things = arrival.things
    if member.submitted is not None:
        things = tuple(
            each if each.submitted else replace(each, submitted=member.submitted, dated="roster") for each in things
        )
    identity = arrival.identity if arrival.platform and not is_team else _identity(member)
    team = arrival.team or (arrival.student if is_team else "")
    return replace(arrival, student=member.student, things=things, identity=identity or _identity(member), team=team)


def _identity(member: Member) -> str:
    return member.canvas_id or member.moodle_id or member.gradescope_id


class _Register:
    """A roster by all that may stand for a student or a team."""

    def __init__(self, roster: Sequence[Member]) -> None:
        self._by_number = {
            platform: {value: member for member in roster if (value := getattr(member, column))}
            for platform, column in _NUMBERS.items()
        }
        self._by_name = _unique((key, member) for member in roster for key in keys(member))
        self._by_letters = _unique(
            (squeezed(name), member) for member in roster for name in {member.name, sortable(member.name)} if name
        )
        self._teams: dict[str, list[Member]] = {}
        for member in roster:
            if member.team:
                self._teams.setdefault(folded([member.team])[0], []).append(member)

    def of(self, arrival: Arrival, described: Member | None) -> list[Member]:
        """Return whose an arrival is: one student, all of a team, or nobody."""
        number = self._by_number.get(arrival.platform, {}).get(arrival.identity) if arrival.identity else None
        if number is not None:
            return [number]
        names = {folded([arrival.student])[0], *(keys(described) if described else ())}
        names |= {folded([arrival.student.removesuffix(f"_{arrival.identity}")])[0]} if arrival.identity else set()
        if match := _COPY.fullmatch(arrival.student):
            names.add(folded([match[1]])[0])
        for name in sorted(names):
            if (member := self._by_name.get(name)) is not None:
                return [member]
        for name in sorted(names):
            if name in self._teams:
                return self._teams[name]
        letters = self._by_letters.get(squeezed(arrival.student.rpartition("_")[0])) if arrival.platform else None
        return [letters] if letters is not None else []


def _unique(pairs: Iterable[tuple[str, Member]]) -> Mapping[str, Member]:
    """Return members by a name that no other has."""
    found: dict[str, list[Member]] = {}
    for key, member in pairs:
        found.setdefault(key, []).append(member)
    return {key: members[0] for key, members in found.items() if len({each.student for each in members}) == 1}
