"""Which stages can be explored, and what each exploration consists of: a line a stage."""

from __future__ import annotations

from collections.abc import Mapping

from drawings import (
    pictures,
    s04,
    s05,
    s06,
    s07,
    s09,
    s10,
    s11,
    s12,
    s13,
    s14,
    s15,
    s16,
    s17,
    s18,
    s19,
    s20,
    s21,
    s22,
)
from grader.explore.model import Plan

PLANS: Mapping[str, Plan] = {
    "s04": Plan(s04.STEPS, s04.start, random=True, given=s04.GIVEN, drawings=pictures.s04.drawings),
    "s05": Plan(s05.STEPS, s05.start, random=False, given=s05.GIVEN, drawings=pictures.s05.drawings),
    "s06": Plan(s06.STEPS, s06.start, random=True, given=s06.GIVEN, drawings=pictures.s06.drawings),
    "s07": Plan(s07.STEPS, s07.start, random=True, given=s07.GIVEN, drawings=pictures.s07.drawings),
    "s09": Plan(s09.STEPS, s09.start, random=True, given=s09.GIVEN, drawings=pictures.s09.drawings),
    "s10": Plan(s10.STEPS, s10.start, random=True, given=s10.GIVEN, drawings=pictures.s10.drawings),
    "s11": Plan(s11.STEPS, s11.start, random=False, given=s11.GIVEN, drawings=pictures.s11.drawings),
    "s12": Plan(s12.STEPS, s12.start, random=True, given=s12.GIVEN, drawings=pictures.s12.drawings),
    "s13": Plan(s13.STEPS, s13.start, random=True, given=s13.GIVEN, drawings=pictures.s13.drawings),
    "s14": Plan(s14.STEPS, s14.start, random=True, given=s14.GIVEN, drawings=pictures.s14.drawings),
    "s15": Plan(s15.STEPS, s15.start, random=True, of_sentence=True, maps=s15.maps, drawings=pictures.s15.drawings),
    "s16": Plan(s16.STEPS, s16.start, random=True, of_sentence=True, maps=s16.maps, drawings=pictures.s16.drawings),
    "s17": Plan(s17.STEPS, s17.start, random=True, of_sentence=True, maps=s17.maps),
    "s18": Plan(
        s18.STEPS, s18.start, random=True, given=s18.GIVEN, prompt=s18.PROMPT, data=True, drawings=pictures.s18.drawings
    ),
    "s19": Plan(s19.STEPS, s19.start, random=True, of_sentence=True, drawings=pictures.s19.drawings),
    "s20": Plan(s20.STEPS, s20.start, random=True, given=s20.GIVEN, drawings=pictures.s20.drawings, data=True),
    "s21": Plan(s21.STEPS, s21.start, random=True, given=s21.GIVEN, drawings=pictures.s21.drawings),
    "s22": Plan(s22.STEPS, s22.start, random=True, given=s22.GIVEN, drawings=pictures.s22.drawings),
}
