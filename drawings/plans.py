"""Which stages can be explored, and what each exploration consists of: a line a stage."""

from __future__ import annotations

from collections.abc import Mapping

from drawings import (
    s01,
    s02,
    s03,
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
    s23,
)
from grader.explore.model import Plan

PLANS: Mapping[str, Plan] = {
    "s01": s01.PLAN,
    "s02": s02.PLAN,
    "s03": s03.PLAN,
    "s04": s04.PLAN,
    "s05": s05.PLAN,
    "s06": s06.PLAN,
    "s07": s07.PLAN,
    "s09": s09.PLAN,
    "s10": s10.PLAN,
    "s11": s11.PLAN,
    "s12": s12.PLAN,
    "s13": s13.PLAN,
    "s14": s14.PLAN,
    "s15": s15.PLAN,
    "s16": s16.PLAN,
    "s17": s17.PLAN,
    "s18": s18.PLAN,
    "s19": s19.PLAN,
    "s20": s20.PLAN,
    "s21": s21.PLAN,
    "s22": s22.PLAN,
    "s23": s23.PLAN,
}
