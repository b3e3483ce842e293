"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s02_linear_systems.solution import (
    _as_float,
    _factors,
    _has_negligible_pivot,
    _regular_factors,
    _square,
    _triangular_system,
    backward_substitution,
    determinant,
    forward_substitution,
    inverse,
    least_squares,
    low_rank_approximation,
    lu_decomposition,
    power_iteration,
    qr_decomposition,
    solve,
)


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="The differences were not divided by the diagonal: this is right only where the diagonal of L is 1.",
    fix="Divide each difference by L[i, i] before you go on to the next unknown.",
)
def lower_diagonal_taken_as_one(L, b):
    L, b = _triangular_system("L", L, b)
    x = np.empty_like(b)
    for i in range(len(x)):
        x[i] = b[i] - L[i, :i] @ x[:i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="The rows of L were multiplied by entries of b, where the unknowns that are already found belong.",
    fix="Subtract L[i, :i] @ x[:i]: the equation is about x, b is its right-hand side.",
)
def right_hand_side_in_place_of_unknowns(L, b):
    L, b = _triangular_system("L", L, b)
    x = np.empty_like(b)
    for i in range(len(x)):
        x[i] = (b[i] - L[i, :i] @ b[:i]) / L[i, i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="What is known was added to the right-hand side instead of taken off it.",
    fix="Subtract L[i, :i] @ x[:i] from b[i].",
)
def known_part_added(L, b):
    L, b = _triangular_system("L", L, b)
    x = np.empty_like(b)
    for i in range(len(x)):
        x[i] = (b[i] + L[i, :i] @ x[:i]) / L[i, i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="A column of L was used where its row belongs: that is the system of L's transpose.",
    fix="Equation i stands in row i: use L[i, :i], not L[:i, i].",
)
def columns_of_L_for_its_rows(L, b):
    L, b = _triangular_system("L", L, b)
    x = np.empty_like(b)
    for i in range(len(x)):
        x[i] = (b[i] - L[:i, i] @ x[:i]) / L[i, i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="The diagonal alone was used: what the unknowns that are already found take up of b[i] was not subtracted.",
    fix="Subtract L[i, :i] @ x[:i] from b[i] before you divide by L[i, i].",
)
def each_unknown_by_itself(L, b):
    L, x = _triangular_system("L", L, b)
    for i in range(len(x)):
        x[i] = x[i] / L[i, i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="The half above the diagonal was used, from the last unknown to the first: that solves an upper system.",
    fix="Begin with x[0], and subtract L[i, :i] @ x[:i], what stands to the left of the diagonal.",
)
def upper_half_from_the_end(L, b):
    L, x = _triangular_system("L", L, b)
    for i in reversed(range(len(x))):
        x[i] = (x[i] - L[i, i + 1 :] @ x[i + 1 :]) / L[i, i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="Integers in, integers out: the unknowns were stored in an array of the dtype of b, which cuts fractions off.",
    fix="Make x an array of a floating dtype, float64 for integer data.",
)
def integer_unknowns_below(L, b):
    L, right = _triangular_system("L", L, b)
    x = np.empty_like(b)
    for i in range(len(x)):
        x[i] = (right[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="A zero on the diagonal was divided by: the result is infinite or NaN, and no error tells of it.",
    fix="Look at the diagonal first, and raise ValueError when one of its entries is zero.",
)
def division_by_zero_below(L, b):
    L = _square("L", L)
    if b.ndim not in (1, 2) or len(b) != len(L):
        raise ValueError(f"b: shape {b.shape}, expected {len(L)} rows")
    x = np.empty(b.shape, dtype=np.result_type(L, b))
    for i in range(len(x)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="A small number on the diagonal of L was taken for zero, and refused.",
    fix="Compare with zero itself, np.any(np.diagonal(L) == 0): small numbers can be divided by like any other.",
)
def small_lower_diagonal_refused(L, b, right=forward_substitution):
    if L.ndim == 2 and np.any(np.abs(np.diagonal(L)) < 1e-8):
        raise ValueError("L: a zero on the diagonal")
    return right(L, b)


@mistake(
    criterion="forward-substitution",
    replaces="forward_substitution",
    text="What stands above the diagonal was used as well, as in a full system.",
    fix="Use the diagonal and what is below it only: np.tril(L) is what counts.",
)
def upper_half_used_too(L, b):
    _triangular_system("L", L, b)
    P, lower, upper = _factors(L)
    y = P @ b
    for i in range(len(y)):
        y[i] -= lower[i, :i] @ y[:i]
    return backward_substitution(upper, y)


@mistake(
    criterion="backward-substitution",
    replaces="backward_substitution",
    text="A small number on the diagonal of U was taken for zero, and refused.",
    fix="Compare with zero itself, np.any(np.diagonal(U) == 0): small numbers can be divided by like any other.",
)
def small_upper_diagonal_refused(U, b, right=backward_substitution):
    if U.ndim == 2 and np.any(np.abs(np.diagonal(U)) < 1e-8):
        raise ValueError("U: a zero on the diagonal")
    return right(U, b)


@mistake(
    criterion="backward-substitution",
    replaces="backward_substitution",
    text="The first unknown was never computed: the loop ends at row 1.",
    fix="Let the loop reach row 0: reversed(range(n)), or range(n - 1, -1, -1).",
)
def first_unknown_left_out(U, b):
    U, b = _triangular_system("U", U, b)
    x = np.zeros_like(b)
    for i in range(len(x) - 1, 0, -1):
        x[i] = (b[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]
    return x


@mistake(
    criterion="backward-substitution",
    replaces="backward_substitution",
    text="Each unknown came out as b[i] / U[i, i], as if those behind it were zero: so they are if row 0 comes first.",
    fix="Begin with the last equation, which has a single unknown, go up, and subtract U[i, i + 1:] @ x[i + 1:].",
)
def unknowns_behind_taken_as_zero(U, b):
    U, b = _triangular_system("U", U, b)
    x = np.zeros_like(b)
    for i in range(len(x)):
        x[i] = (b[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]
    return x


@mistake(
    criterion="backward-substitution",
    replaces="backward_substitution",
    text="The unknowns come in the order in which they were found, the last one first.",
    fix="Store each unknown at its own place, x[i], or reverse the list at the end.",
)
def unknowns_in_the_order_found(U, b, right=backward_substitution):
    return right(U, b)[::-1]


@mistake(
    criterion="backward-substitution",
    replaces="backward_substitution",
    text="The differences were not divided by the diagonal of U, which is not 1.",
    fix="Divide each difference by U[i, i].",
)
def upper_diagonal_taken_as_one(U, b):
    U, b = _triangular_system("U", U, b)
    x = np.empty_like(b)
    for i in reversed(range(len(x))):
        x[i] = b[i] - U[i, i + 1 :] @ x[i + 1 :]
    return x


@mistake(
    criterion="backward-substitution",
    replaces="backward_substitution",
    text="A column of U was used where its row belongs.",
    fix="Equation i stands in row i: use U[i, i + 1:], not U[i + 1:, i].",
)
def columns_of_U_for_its_rows(U, b):
    U, b = _triangular_system("U", U, b)
    x = np.empty_like(b)
    for i in reversed(range(len(x))):
        x[i] = (b[i] - U[i + 1 :, i] @ x[i + 1 :]) / U[i, i]
    return x


@mistake(
    criterion="backward-substitution",
    replaces="backward_substitution",
    text="A zero on the diagonal of U was divided by, and no error tells of it.",
    fix="Raise ValueError when an entry of the diagonal is zero.",
)
def division_by_zero_above(U, b):
    U = _square("U", U)
    if b.ndim not in (1, 2) or len(b) != len(U):
        raise ValueError(f"b: shape {b.shape}, expected {len(U)} rows")
    x = np.empty(b.shape, dtype=np.result_type(U, b))
    for i in reversed(range(len(x))):
        x[i] = (b[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]
    return x


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="No row is ever swapped, so a zero pivot is divided by.",
    fix="Before you eliminate column k, bring a row whose entry in that column is not zero to place k.",
)
def no_rows_swapped(A):
    work = _square("A", A)
    n = len(work)
    for k in range(n):
        work[k + 1 :, k] /= work[k, k]
        work[k + 1 :, k + 1 :] -= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    identity = np.eye(n, dtype=work.dtype)
    return identity, np.tril(work, -1) + identity, np.triu(work)


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="P came out transposed: this is the convention A = P L U, where P @ A = L @ U is asked for.",
    fix="Return the transpose: row i of P has its 1 in the column that says which row of A came to place i.",
)
def permutation_transposed(A, right=lu_decomposition):
    P, L, U = right(A)
    return P.T, L, U


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="The rows were swapped, but P is the identity: the swaps were not recorded.",
    fix="Swap the same rows in P, or in a list of row numbers, whenever you swap rows of A.",
)
def swaps_not_recorded(A, right=lu_decomposition):
    P, L, U = right(A)
    return np.eye(len(P), dtype=P.dtype), L, U


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="Rows of A were swapped, but not the factors that L already held for them.",
    fix="Swap the first k entries of the two rows of L too.",
)
def factors_not_swapped(A):
    U = _square("A", A)
    n = len(U)
    P, L = np.eye(n, dtype=U.dtype), np.eye(n, dtype=U.dtype)
    for k in range(n):
        pivot = k + np.argmax(np.abs(U[k:, k]))
        U[[k, pivot]] = U[[pivot, k]]
        P[[k, pivot]] = P[[pivot, k]]
        for i in range(k + 1, n):
            L[i, k] = U[i, k] / U[k, k] if U[k, k] else 0
            U[i] -= L[i, k] * U[k]
    return P, L, np.triu(U)


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="The diagonal of L is zero: the ones are missing.",
    fix="Add the identity to the factors below the diagonal.",
)
def diagonal_of_L_left_zero(A, right=lu_decomposition):
    P, L, U = right(A)
    return P, np.tril(L, -1), U


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="The factors of L still stand below the diagonal of U.",
    fix="Return the upper triangle of the working array only, np.triu(work).",
)
def factors_left_in_U(A, right=lu_decomposition):
    P, L, U = right(A)
    return P, L, U + np.tril(L, -1)


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="The factors in L have the wrong sign: they are what is added, not what L multiplies with.",
    fix="If a multiple of row k was subtracted from row i, L[i, k] is that multiple, with a plus sign.",
)
def factors_negated(A, right=lu_decomposition):
    P, L, U = right(A)
    return P, 2 * np.eye(len(L), dtype=L.dtype) - L, U


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="A column with nothing but zeros was refused. It needs no elimination, and every matrix has such an L and U.",
    fix="Go on to the next column when the largest entry is zero; singular matrices are a matter for solve.",
)
def singular_matrix_not_decomposed(A, right=lu_decomposition):
    P, L, U = right(A)
    if np.any(np.diagonal(U) == 0):
        raise ValueError("A: singular")
    return P, L, U


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="A pivot below a fixed limit was taken for zero: its column was not cleared, although all of A is small.",
    fix="Skip the elimination only where the pivot is exactly 0; what is too small is for solve to say.",
)
def small_pivots_skipped(A):
    work = _square("A", A)
    n = len(work)
    order, L = np.arange(n), np.eye(n, dtype=work.dtype)
    for k in range(n):
        pivot = k + np.argmax(np.abs(work[k:, k]))
        if abs(work[pivot, k]) < 1e-12:
            continue
        work[[k, pivot]] = work[[pivot, k]]
        order[[k, pivot]] = order[[pivot, k]]
        L[[k, pivot], :k] = L[[pivot, k], :k]
        L[k + 1 :, k] = work[k + 1 :, k] / work[k, k]
        work[k + 1 :] -= np.outer(L[k + 1 :, k], work[k])
    return np.eye(n, dtype=work.dtype)[order], L, np.triu(work)


@mistake(
    criterion="lu-decomposition",
    replaces="lu_decomposition",
    text="A column with nothing but zeros was divided by its zero pivot, which gives NaN.",
    fix="Skip the elimination where the pivot is zero.",
)
def zero_column_divided(A):
    work = _square("A", A)
    n = len(work)
    order = np.arange(n)
    for k in range(n):
        pivot = k + np.argmax(np.abs(work[k:, k]))
        work[[k, pivot]] = work[[pivot, k]]
        order[[k, pivot]] = order[[pivot, k]]
        work[k + 1 :, k] /= work[k, k]
        work[k + 1 :, k + 1 :] -= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    identity = np.eye(n, dtype=work.dtype)
    return identity[order], np.tril(work, -1) + identity, np.triu(work)


@mistake(
    criterion="pivoting",
    replaces="lu_decomposition",
    text="Rows are swapped only when the pivot is exactly zero; a tiny pivot stays, and drowns the other rows.",
    fix="Swap in every column: take the entry of largest absolute value on or below the diagonal.",
)
def swapped_for_zeros_only(A):
    work = _square("A", A)
    n = len(work)
    order = np.arange(n)
    for k in range(n):
        pivot = k + np.argmax(np.abs(work[k:, k])) if work[k, k] == 0 else k
        work[[k, pivot]] = work[[pivot, k]]
        order[[k, pivot]] = order[[pivot, k]]
        if work[k, k] != 0:
            work[k + 1 :, k] /= work[k, k]
            work[k + 1 :, k + 1 :] -= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    identity = np.eye(n, dtype=work.dtype)
    return identity[order], np.tril(work, -1) + identity, np.triu(work)


@mistake(
    criterion="pivoting",
    replaces="lu_decomposition",
    text="The largest entry was taken with its sign, so that -4 counts as less than 1.",
    fix="Compare absolute values: np.argmax(np.abs(...)).",
)
def largest_with_its_sign(A):
    work = _square("A", A)
    n = len(work)
    order = np.arange(n)
    for k in range(n):
        candidates = np.where(work[k:, k] == 0, -np.inf, work[k:, k])
        pivot = k + np.argmax(candidates)
        work[[k, pivot]] = work[[pivot, k]]
        order[[k, pivot]] = order[[pivot, k]]
        if work[k, k] != 0:
            work[k + 1 :, k] /= work[k, k]
            work[k + 1 :, k + 1 :] -= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    identity = np.eye(n, dtype=work.dtype)
    return identity[order], np.tril(work, -1) + identity, np.triu(work)


@mistake(
    criterion="pivoting",
    replaces="lu_decomposition",
    text="The entry on the diagonal was not among the candidates: the search began one row too low.",
    fix="Search from row k on, work[k:, k], so that no swap happens where the diagonal entry is the largest.",
)
def diagonal_not_considered(A):
    work = _square("A", A)
    n = len(work)
    order = np.arange(n)
    for k in range(n):
        pivot = k
        if np.any(work[k + 1 :, k]):
            pivot = k + 1 + np.argmax(np.abs(work[k + 1 :, k]))
        work[[k, pivot]] = work[[pivot, k]]
        order[[k, pivot]] = order[[pivot, k]]
        if work[k, k] != 0:
            work[k + 1 :, k] /= work[k, k]
            work[k + 1 :, k + 1 :] -= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    identity = np.eye(n, dtype=work.dtype)
    return identity[order], np.tril(work, -1) + identity, np.triu(work)


@mistake(
    criterion="pivoting",
    replaces="lu_decomposition",
    text="The first entry that is not tiny was taken as the pivot, where the largest one belongs.",
    fix="Look at all of the column from row k on, and take the entry of largest absolute value.",
)
def first_pivot_that_will_do(A):
    work = _square("A", A)
    n = len(work)
    order = np.arange(n)
    for k in range(n):
        large_enough = np.abs(work[k:, k]) > 1e-12 * np.abs(work[k:, k]).max()
        pivot = k + np.argmax(large_enough)
        work[[k, pivot]] = work[[pivot, k]]
        order[[k, pivot]] = order[[pivot, k]]
        if work[k, k] != 0:
            work[k + 1 :, k] /= work[k, k]
            work[k + 1 :, k + 1 :] -= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    identity = np.eye(n, dtype=work.dtype)
    return identity[order], np.tril(work, -1) + identity, np.triu(work)


@mistake(
    criterion="solve",
    replaces="solve",
    text="The right-hand side was not permuted: b belongs to the rows of A, L and U to the rows of P A.",
    fix="Begin the forward substitution with P @ b.",
)
def right_hand_side_not_permuted(A, b):
    P, L, U = _regular_factors(A)
    return backward_substitution(U, forward_substitution(L, b))


@mistake(
    criterion="solve",
    replaces="solve",
    text="The right-hand side was permuted the wrong way round, with the transpose of P.",
    fix="Multiply both sides of A x = b by P: the right one becomes P @ b.",
)
def permuted_by_the_transpose(A, b):
    P, L, U = _regular_factors(A)
    return backward_substitution(U, forward_substitution(L, P.T @ b))


@mistake(
    criterion="solve",
    replaces="solve",
    text="This is y, the solution of L y = P b: the second triangular system was not solved.",
    fix="Solve U x = y by backward substitution, and return x.",
)
def only_forward(A, b):
    P, L, U = _regular_factors(A)
    return forward_substitution(L, P @ b)


@mistake(
    criterion="solve",
    replaces="solve",
    text="The permutation was applied to the solution instead of the right-hand side.",
    fix="P moves equations, not unknowns: apply it to b, and leave x as it comes out of the second substitution.",
)
def unknowns_permuted(A, b):
    P, L, U = _regular_factors(A)
    return P @ backward_substitution(U, forward_substitution(L, b))


@mistake(
    criterion="solve",
    replaces="solve",
    text="The two triangular systems were solved in the wrong order: U first, then L.",
    fix="In L (U x) = P b it is L that stands outside: forward substitution first.",
)
def substitutions_in_the_wrong_order(A, b):
    P, L, U = _regular_factors(A)
    return forward_substitution(L, backward_substitution(U, P @ b))


@mistake(
    criterion="solve",
    replaces="solve",
    text="Several right-hand sides come out transposed: the solution of each column has become a row.",
    fix="Put the solutions side by side as columns (np.column_stack), or let the substitutions take all of b at once.",
)
def solutions_as_rows(A, b, right=solve):
    x = right(A, b)
    return x.T


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="A matrix of which one pivot is tiny was not refused: rounding leaves that where exact numbers give 0, and "
    "dividing by it gives huge numbers.",
    fix="Compare the pivots with a limit that grows with A, 10 * n * eps * np.linalg.norm(A), and refuse A where any "
    "of them is below it.",
)
def only_exact_zeros_refused(A, b):
    P, L, U = _factors(A)
    return backward_substitution(U, forward_substitution(L, P @ b))


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="Only the last pivot was looked at; any of them may be the one that is too small.",
    fix="Compare the smallest absolute value on the diagonal of U with the limit, or ask np.any(...).",
)
def only_the_last_pivot_compared(A, b):
    P, L, U = _factors(A)
    if abs(U[-1, -1]) <= 10 * len(A) * np.finfo(U.dtype).eps * np.linalg.norm(A):
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P @ b))


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="A pivot that is no larger than the limit passed: the limit that was used is smaller than 10 * n * eps * |A|.",
    fix="Take all of its factors: 10, the n of the matrix, eps of its dtype, and the Frobenius norm np.linalg.norm(A).",
)
def limit_with_a_factor_missing(A, b):
    P, L, U = _factors(A)
    if np.any(np.abs(np.diagonal(U)) <= len(A) * np.finfo(U.dtype).eps * np.linalg.norm(A)):
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P @ b))


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="The limit has the eps of float64 for a float32 matrix too: what rounding to float32 leaves of a zero is a "
    "billion times as large, and passed.",
    fix="Take eps from the dtype of the pivots: np.finfo(U.dtype).eps.",
)
def limit_of_float64_for_float32(A, b):
    P, L, U = _factors(A)
    if np.any(np.abs(np.diagonal(U)) <= 10 * len(A) * np.finfo(float).eps * np.linalg.norm(A)):
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P @ b))


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="The pivots were compared with a fixed small number, so a good matrix of small numbers counts as singular.",
    fix="Let the limit grow and shrink with A: 10 * n * eps * np.linalg.norm(A).",
)
def fixed_limit_for_pivots(A, b):
    P, L, U = _factors(A)
    if np.any(np.abs(np.diagonal(U)) < 1e-8):
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P @ b))


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="A small determinant was taken as a sign of a singular matrix; it says more of the size of A and of n.",
    fix="Look at each pivot, in relation to the size of A, and not at their product.",
)
def small_determinant_refused(A, b):
    P, L, U = _factors(A)
    if abs(determinant(A)) < 1e-12:
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P @ b))


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="A singular matrix was recognised, but the answer is an array of NaN instead of an error.",
    fix="Raise ValueError: NaN would travel on, and nobody would know where it came from.",
)
def nan_for_an_answer(A, b, right=solve):
    if A.ndim == 2 and _has_negligible_pivot(_factors(A)[2], A):
        return np.full(b.shape, np.nan)
    return right(A, b)


@mistake(
    criterion="singular-systems",
    replaces="solve",
    text="The least-squares way of dropping small pivots was taken: a singular system got an answer, one of many.",
    fix="Raise ValueError where a pivot is within rounding of zero.",
)
def small_pivots_replaced(A, b, right=solve):
    if A.ndim != 2 or not _has_negligible_pivot(_factors(A)[2], A):
        return right(A, b)
    P, L, U = _factors(A)
    for i in range(len(U)):
        if abs(U[i, i]) < 1e-9 * np.linalg.norm(U):
            U[i, i] = 1.0
    return backward_substitution(U, forward_substitution(L, P @ b))


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="This is the product of the pivots: the swaps of rows were not counted, so the sign is wrong for odd numbers.",
    fix="Multiply by -1 for each swap of two rows.",
)
def swaps_not_counted(A):
    return np.prod(np.diagonal(_factors(A)[2]))


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="The determinant has lost its sign: it can be negative.",
    fix="Multiply the pivots with their signs, and turn the sign for each swap.",
)
def determinant_without_sign(A, right=determinant):
    return abs(right(A))


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="The swaps were counted as pairs of rows that are out of place; but three rows in a circle are two swaps.",
    fix="Count the swaps while you eliminate.",
)
def misplaced_rows_counted(A):
    P, _, U = _factors(A)
    misplaced = np.count_nonzero(np.diagonal(P) == 0)
    return (-1.0) ** (misplaced // 2) * np.prod(np.diagonal(U))


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="Every column counted as a swap, also those whose pivot was in place already.",
    fix="Turn the sign only where the pivot is in another row than k.",
)
def every_column_counted_as_a_swap(A):
    U = _factors(A)[2]
    return (-1.0) ** len(U) * np.prod(np.diagonal(U))


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="The diagonal of A itself was multiplied; that is the determinant only where A is triangular.",
    fix="Multiply the diagonal of U.",
)
def diagonal_of_A_multiplied(A):
    return np.prod(np.diagonal(_square("A", A)))


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="The pivots were added up; that is the trace of U.",
    fix="Multiply them.",
)
def pivots_added(A, right=determinant):
    U = _factors(A)[2]
    product = np.prod(np.diagonal(U))
    return right(A) / product * np.trace(U) if product else np.trace(U)


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="A small determinant was rounded to 0; it may be small because the numbers in A are.",
    fix="Return the product of the pivots as it is. The limit of solve and inverse is for single pivots.",
)
def small_determinant_rounded_to_zero(A, right=determinant):
    result = right(A)
    return result if abs(result) >= 1e-12 else 0.0


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="The determinant was set to 0 because a pivot is small beside the others; small is not zero.",
    fix="Return the product of the pivots as it is. Only solve and inverse have a limit.",
)
def small_pivot_makes_zero(A, right=determinant):
    return 0.0 if A.ndim == 2 and _has_negligible_pivot(_factors(A)[2], A) else right(A)


@mistake(
    criterion="determinant",
    replaces="determinant",
    text="A singular matrix was refused. Its determinant is well defined: it is 0.",
    fix="Return the product of the pivots without asking for an inverse.",
)
def singular_determinant_refused(A, right=determinant):
    if _has_negligible_pivot(_factors(A)[2], A):
        raise ValueError("A: singular")
    return right(A)


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="This is the transpose of the inverse: the solutions were stored as rows.",
    fix="Solution j belongs into column j.",
)
def inverse_transposed(A, right=inverse):
    return right(A).T


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="Each entry was inverted by itself. That is no inverse of the matrix: their product is not the identity.",
    fix="Solve A X = I for the matrix X.",
)
def entries_inverted(A, right=inverse):
    right(A)
    return 1.0 / _as_float(A)


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="This is U^-1 L^-1, the inverse of P A: the permutation is missing.",
    fix="Begin with P instead of the identity, or let solve do it.",
)
def inverse_without_permutation(A):
    P, L, U = _regular_factors(A)
    return backward_substitution(U, forward_substitution(L, np.eye(len(A), dtype=L.dtype)))


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="The right-hand sides were all ones, where the columns of the identity belong.",
    fix="Solve for np.eye(n): column j has a single 1, in row j.",
)
def solved_for_ones(A):
    P, L, U = _regular_factors(A)
    return backward_substitution(U, forward_substitution(L, np.ones_like(P)))


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="Only an exact zero counts as singular; rounding left a tiny pivot, and what was returned is no inverse.",
    fix="Let solve do it, or compare the pivots with its limit, which grows with A.",
)
def inverse_unless_there_is_an_exact_zero(A):
    P, L, U = _factors(A)
    return backward_substitution(U, forward_substitution(L, P))


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="A small determinant was taken for a sign that there is no inverse; it says more of the size of A and of n.",
    fix="Let solve look at each pivot, in relation to the size of A.",
)
def inverse_with_a_limit_for_the_determinant(A):
    P, L, U = _factors(A)
    if abs(determinant(A)) < 1e-12:
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P))


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="The pivots were compared with a fixed small number, so that what has an inverse depends on the size of A.",
    fix="Let solve look at the pivots: its limit grows and shrinks with A.",
)
def inverse_with_a_fixed_limit_for_pivots(A):
    P, L, U = _factors(A)
    if np.any(np.abs(np.diagonal(U)) < 1e-12):
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P))


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="The limit for pivots has the eps of float64 for a float32 matrix too: what rounding left of a zero passed.",
    fix="Take eps from the dtype of the pivots, np.finfo(U.dtype).eps, or let solve do it.",
)
def inverse_with_the_limit_of_float64(A):
    P, L, U = _factors(A)
    if np.any(np.abs(np.diagonal(U)) <= 10 * len(A) * np.finfo(float).eps * np.linalg.norm(A)):
        raise ValueError("A: singular")
    return backward_substitution(U, forward_substitution(L, P))


@mistake(
    criterion="inverse",
    replaces="inverse",
    text="Single precision is lost: the identity is float64, and float64 is what comes out.",
    fix="Give np.eye the dtype of A if that is a floating one.",
)
def identity_in_float64(A):
    P, L, U = _regular_factors(A)
    return backward_substitution(U, forward_substitution(L, P.astype(np.float64)))


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="Q has as many columns as rows: this is the full decomposition, where the reduced one is asked for.",
    fix="Keep the first n columns of Q and the first n rows of R.",
)
def full_decomposition(A, right=qr_decomposition):
    Q, R = right(A)
    m, n = A.shape
    rest = right(np.hstack([Q, np.eye(m, dtype=Q.dtype)[:, : m - n]]))[0][:, n:]
    return np.hstack([Q, rest]), np.vstack([R, np.zeros((m - n, n), dtype=R.dtype)])


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="The columns of Q are perpendicular, but not of length 1: they were not divided by their lengths.",
    fix="Divide each column by its length, and put the length on the diagonal of R.",
)
def columns_not_normalised(A, right=qr_decomposition):
    Q, R = right(A)
    lengths = np.diagonal(R)
    return Q * lengths, R / np.where(lengths == 0, 1, lengths)[:, np.newaxis]


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="R is transposed: it is lower triangular, because R[j, i] was filled where R[i, j] belongs.",
    fix="The product of column i of Q with column j of A, i < j, is R[i, j].",
)
def triangle_transposed(A, right=qr_decomposition):
    Q, R = right(A)
    return Q, R.T


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="The projections were taken on the columns of A, which are not perpendicular, instead of the columns of Q.",
    fix="Subtract from column j its part along each finished column of Q.",
)
def projected_on_columns_of_A(A, right=qr_decomposition):
    right(A)
    columns = _as_float(A)
    Q, R = np.zeros_like(columns), np.zeros_like(columns[: A.shape[1]])
    for j in range(A.shape[1]):
        v = columns[:, j].copy()
        for i in range(j):
            a = columns[:, i] / (np.linalg.norm(columns[:, i]) or 1)
            R[i, j] = a @ columns[:, j]
            v -= R[i, j] * a
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / (R[j, j] or 1)
    return Q, R


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="The reflections were multiplied in the wrong order: this Q is not the one that belongs to R.",
    fix="Apply the last reflection to the identity first: Q = H_1 H_2 ... H_n.",
)
def reflections_in_the_wrong_order(A):
    if A.ndim != 2 or A.shape[0] < A.shape[1]:
        raise ValueError(f"A: shape {A.shape}, expected at least as many rows as columns")
    R = _as_float(A)
    full = np.eye(len(R), dtype=R.dtype)
    for k in range(A.shape[1]):
        v = R[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v) or 1
        R[k:] -= 2 * np.outer(v, v @ R[k:])
        full[k:] -= 2 * np.outer(v, v @ full[k:])
    return full[:, : A.shape[1]], np.triu(R[: A.shape[1]])


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="np.sign(0) is 0: where a column begins with a zero, its length is not added, and nothing is cleared.",
    fix="Take 1 for the sign of 0: np.copysign(length, v[0]) does.",
)
def sign_of_zero(A):
    if A.ndim != 2 or A.shape[0] < A.shape[1]:
        raise ValueError(f"A: shape {A.shape}, expected at least as many rows as columns")
    R = _as_float(A)
    Q = np.eye(*A.shape, dtype=R.dtype)
    reflectors = []
    for k in range(A.shape[1]):
        v = R[k:, k].copy()
        v[0] += np.sign(v[0]) * np.linalg.norm(v)
        v /= np.linalg.norm(v) or 1
        R[k:] -= 2 * np.outer(v, v @ R[k:])
        reflectors.append(v)
    for v in reversed(reflectors):
        start = len(Q) - len(v)
        Q[start:] -= 2 * np.outer(v, v @ Q[start:])
    return Q, np.triu(R[: A.shape[1]])


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="A column of which nothing is left was divided by its length 0: Q and R hold NaN.",
    fix="Where the length is 0, do not divide; the diagonal of R has a 0 there.",
)
def zero_length_divided(A, right=qr_decomposition):
    Q, R = right(A)
    Q = Q.copy()
    Q[:, np.diagonal(R) == 0] = np.nan
    return Q, R


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="A column of small numbers was taken for a column of zeros, because its length is below a fixed limit.",
    fix="Leave a column alone only if its length is exactly 0; small numbers can be divided by like any other.",
)
def small_columns_left_alone(A, right=qr_decomposition):
    if A.ndim != 2 or A.shape[0] < A.shape[1] or np.linalg.norm(A) >= 1e-12:
        return right(A)
    return np.eye(*A.shape, dtype=_as_float(A).dtype), np.triu(_as_float(A)[: A.shape[1]])


@mistake(
    criterion="qr-decomposition",
    replaces="qr_decomposition",
    text="A matrix with more columns than rows was decomposed; in this stage it is refused.",
    fix="Raise ValueError unless A has two axes and at least as many rows as columns.",
)
def wide_matrix_decomposed(A, right=qr_decomposition):
    if A.ndim != 2 or A.shape[0] >= A.shape[1]:
        return right(A)
    Q, R = right(A[:, : len(A)])
    return Q, Q.T @ A


@mistake(
    criterion="qr-stability",
    replaces="qr_decomposition",
    text="This is classical Gram-Schmidt, done once: where columns nearly depend on one another, Q is not orthonormal.",
    fix="Take the projections off each column a second time and add them to R, or use Householder reflections.",
)
def gram_schmidt_once(A, right=qr_decomposition):
    right(A)
    columns = _as_float(A)
    Q, R = np.zeros_like(columns), np.zeros_like(columns[: A.shape[1]])
    for j in range(A.shape[1]):
        v = columns[:, j].copy()
        for i in range(j):
            R[i, j] = np.sum(Q[:, i] * columns[:, j])
            v -= R[i, j] * Q[:, i]
        R[j, j] = np.sqrt(np.sum(v * v))
        Q[:, j] = v / (R[j, j] or 1)
    return Q, R


@mistake(
    criterion="qr-stability",
    replaces="qr_decomposition",
    text="This is modified Gram-Schmidt: better than the classical one, but Q still loses as many digits as A is ill.",
    fix="Do it twice for each column, adding both projections to R, or use Householder reflections.",
)
def modified_gram_schmidt_once(A, right=qr_decomposition):
    right(A)
    columns = _as_float(A)
    Q, R = np.zeros_like(columns), np.zeros_like(columns[: A.shape[1]])
    for j in range(A.shape[1]):
        v = columns[:, j].copy()
        for i in range(j):
            R[i, j] = np.sum(Q[:, i] * v)
            v -= R[i, j] * Q[:, i]
        R[j, j] = np.sqrt(np.sum(v * v))
        Q[:, j] = v / (R[j, j] or 1)
    return Q, R


@mistake(
    criterion="qr-stability",
    replaces="qr_decomposition",
    text="R was found from A^T A (Cholesky), whose condition is the square of that of A: half of the digits are lost.",
    fix="Do not form A^T A; work on the columns of A.",
)
def from_the_products_of_columns(A, right=qr_decomposition):
    right(A)
    columns = _as_float(A)
    n = A.shape[1]
    work = columns.T @ columns
    R = np.zeros_like(work)
    for k in range(n):
        if work[k, k] <= 1e-15 * np.trace(columns.T @ columns):
            work[k, k + 1 :] = 0
        R[k] = np.where(np.arange(n) >= k, work[k], 0) / (np.sqrt(max(work[k, k], 0)) or 1)
        work -= np.outer(R[k], R[k])
    Q = columns.copy()
    for j in range(n):
        Q[:, j] = (Q[:, j] - Q[:, :j] @ R[:j, j]) / (R[j, j] or 1)
    return Q, R


@mistake(
    criterion="qr-stability",
    replaces="qr_decomposition",
    text="The sign of the reflection was chosen so that two nearly equal numbers are subtracted; their digits cancel.",
    fix="Give the length the sign of the first entry: v[0] += np.copysign(length, v[0]).",
)
def reflected_with_cancellation(A):
    if A.ndim != 2 or A.shape[0] < A.shape[1]:
        raise ValueError(f"A: shape {A.shape}, expected at least as many rows as columns")
    R = _as_float(A)
    Q = np.eye(*A.shape, dtype=R.dtype)
    reflectors = []
    for k in range(A.shape[1]):
        v = R[k:, k].copy()
        v[0] -= np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v) or 1
        R[k:] -= 2 * np.outer(v, v @ R[k:])
        reflectors.append(v)
    for v in reversed(reflectors):
        start = len(Q) - len(v)
        Q[start:] -= 2 * np.outer(v, v @ Q[start:])
    return Q, np.triu(R[: A.shape[1]])


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="Only the first n equations were solved; the others had no say.",
    fix="All rows count: R x = Q^T b, with Q of shape (m, n).",
)
def first_equations_only(A, b, right=least_squares):
    right(A, b)
    return solve(A[: A.shape[1]], b[: A.shape[1]])


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="The right-hand side was not turned by Q^T: its first n entries were used as they are.",
    fix="Solve R x = Q.T @ b.",
)
def right_hand_side_not_turned(A, b, right=least_squares):
    right(A, b)
    R = qr_decomposition(A)[1]
    return backward_substitution(R, b[: len(R)])


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="This is Q^T b: the triangular system with R was not solved.",
    fix="Solve R x = Q.T @ b by backward substitution.",
)
def triangle_not_solved(A, b, right=least_squares):
    right(A, b)
    return qr_decomposition(A)[0].T @ b


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="Two values were returned, the solution and the squared residual; only the solution is asked for.",
    fix="Return x alone. (NumPy's own lstsq is the one that returns more.)",
)
def residual_returned_too(A, b, right=least_squares):
    x = right(A, b)
    return x, np.sum((A @ x - b) ** 2)


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="A small number was added to the diagonal of A^T A, so that every problem has an answer, but a wrong one.",
    fix="Leave the diagonal alone, and raise ValueError for dependent columns.",
)
def diagonal_raised(A, b):
    A = _as_float(A)
    if A.ndim != 2 or A.shape[0] < A.shape[1]:
        raise ValueError(f"A: shape {A.shape}, expected at least as many rows as columns")
    return solve(A.T @ A + np.asarray(1e-6, dtype=A.dtype) * np.eye(A.shape[1], dtype=A.dtype), A.T @ b)


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="Only the last entry on the diagonal of R was looked at; any of them may be the one that is too small.",
    fix="Compare all absolute values on the diagonal of R with the limit: np.any(...).",
)
def only_the_last_entry_compared(A, b):
    Q, R = qr_decomposition(A)
    if abs(R[-1, -1]) <= 10 * len(A) * np.finfo(R.dtype).eps * np.linalg.norm(A):
        raise ValueError("A: dependent columns")
    return backward_substitution(R, Q.T @ b)


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="Columns that depend on others were not noticed: rounding left a tiny number on the diagonal of R.",
    fix="Raise ValueError when a diagonal entry of R is at most 10 * m * eps * np.linalg.norm(A).",
)
def dependent_columns_not_noticed(A, b):
    Q, R = qr_decomposition(A)
    return backward_substitution(R, Q.T @ b)


@mistake(
    criterion="least-squares",
    replaces="least_squares",
    text="The limit has the eps of float64 for float32 columns too: what rounding left of a zero on the diagonal of R "
    "passed.",
    fix="Take eps from the dtype of R: np.finfo(R.dtype).eps.",
)
def dependent_columns_by_the_limit_of_float64(A, b):
    Q, R = qr_decomposition(A)
    if np.any(np.abs(np.diagonal(R)) <= 10 * len(A) * np.finfo(float).eps * np.linalg.norm(A)):
        raise ValueError("A: dependent columns")
    return backward_substitution(R, Q.T @ b)


@mistake(
    criterion="least-squares-stability",
    replaces="least_squares",
    text="These are the normal equations, A^T A x = A^T b: they square the condition number, and half the digits go.",
    fix="Decompose A itself, A = Q R, and solve R x = Q^T b.",
)
def normal_equations(A, b, right=least_squares):
    right(A, b)
    A = _as_float(A)
    return solve(A.T @ A, A.T @ b)


@mistake(
    criterion="least-squares-stability",
    replaces="least_squares",
    text="A^T A was inverted and multiplied with A^T b; that loses even more digits than solving does.",
    fix="Decompose A itself, A = Q R, and solve R x = Q^T b.",
)
def normal_equations_inverted(A, b, right=least_squares):
    right(A, b)
    A = _as_float(A)
    return inverse(A.T @ A) @ A.T @ b


@mistake(
    criterion="least-squares-stability",
    replaces="least_squares",
    text="A tiny multiple of the identity was added to A^T A: invisible where A is well conditioned, ruinous here.",
    fix="Add nothing; solve R x = Q^T b.",
)
def tiny_ridge(A, b, right=least_squares):
    right(A, b)
    A = _as_float(A)
    gram = A.T @ A
    return solve(gram + 1e-12 * np.trace(gram) * np.eye(len(gram), dtype=A.dtype), A.T @ b)


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="The eigenvalue has lost its sign: the length of A v was returned, which is never negative.",
    fix="Return v @ A @ v for the v of length 1.",
)
def length_for_an_eigenvalue(A, num_iterations=1000, tolerance=1e-10, rng=None, right=power_iteration):
    value, vector = right(A, num_iterations, tolerance, rng)
    return abs(value), vector


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="The start was a vector of ones, which may be perpendicular to the eigenvector that is looked for.",
    fix="Draw the start from rng: rng.normal(size=n).",
)
def started_with_ones(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    vector = np.ones(len(A), dtype=A.dtype) / A.dtype.type(np.sqrt(len(A)))
    for _ in range(num_iterations):
        product = A @ vector
        quotient = vector @ product
        if np.linalg.norm(product - quotient * vector) <= tolerance * abs(quotient):
            break
        vector = product / np.linalg.norm(product)
    return vector @ A @ vector, vector


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="The start has positive entries only: it is the same corner of the space each time.",
    fix="Draw from a normal distribution, so that every direction is as likely as any other.",
)
def started_with_positive_entries(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    rng = np.random.default_rng() if rng is None else rng
    vector = rng.random(len(A)).astype(A.dtype)
    vector /= np.linalg.norm(vector)
    for _ in range(num_iterations):
        product = A @ vector
        quotient = vector @ product
        if np.linalg.norm(product - quotient * vector) <= tolerance * abs(quotient):
            break
        vector = product / np.linalg.norm(product)
    return vector @ A @ vector, vector


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="The vector was multiplied with A from the left: this is an eigenvector of A's transpose.",
    fix="Multiply A @ v, not v @ A; only for a symmetric A are they the same.",
)
def left_eigenvector(A, num_iterations=1000, tolerance=1e-10, rng=None, right=power_iteration):
    return right(A.T, num_iterations, tolerance, rng)


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="The vector has not length 1: it was divided by its largest entry.",
    fix="Divide by the Euclidean length, np.linalg.norm(v).",
)
def divided_by_the_largest_entry(A, num_iterations=1000, tolerance=1e-10, rng=None, right=power_iteration):
    value, vector = right(A, num_iterations, tolerance, rng)
    return value, vector / np.max(np.abs(vector))


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="It stopped once the eigenvalue hardly changed; the eigenvector is only half as far by then.",
    fix="Stop when |A v - q v| <= tolerance * |q|.",
)
def stopped_by_the_eigenvalue(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    rng = np.random.default_rng() if rng is None else rng
    vector = rng.normal(size=len(A)).astype(A.dtype)
    vector /= np.linalg.norm(vector)
    before = np.inf
    for _ in range(num_iterations):
        product = A @ vector
        quotient = vector @ product
        if abs(quotient - before) <= tolerance * abs(quotient) or not product.any():
            break
        before = quotient
        vector = product / np.linalg.norm(product)
    return vector @ A @ vector, vector


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="The tolerance is not taken in relation to q: the search ends late for a large q, early for a small one.",
    fix="Compare the residual with tolerance * abs(q).",
)
def absolute_tolerance(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    rng = np.random.default_rng() if rng is None else rng
    vector = rng.normal(size=len(A)).astype(A.dtype)
    vector /= np.linalg.norm(vector)
    for _ in range(num_iterations):
        product = A @ vector
        quotient = vector @ product
        if np.linalg.norm(product - quotient * vector) <= tolerance:
            break
        vector = product / np.linalg.norm(product)
    return vector @ A @ vector, vector


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="The eigenvalue belongs to the vector before the last step, not to the one that was returned.",
    fix="After the loop compute v @ A @ v once more, with the v that you return.",
)
def eigenvalue_one_step_behind(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    rng = np.random.default_rng() if rng is None else rng
    vector = rng.normal(size=len(A)).astype(A.dtype)
    vector /= np.linalg.norm(vector)
    for _ in range(num_iterations):
        product = A @ vector
        quotient = vector @ product
        if np.linalg.norm(product - quotient * vector) <= tolerance * abs(quotient):
            break
        vector = product / np.linalg.norm(product)
    return quotient, vector


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="It makes one step fewer than num_iterations.",
    fix="Let the loop run num_iterations times: range(num_iterations).",
)
def one_step_too_few(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    rng = np.random.default_rng() if rng is None else rng
    vector = rng.normal(size=len(A)).astype(A.dtype)
    vector /= np.linalg.norm(vector)
    for _ in range(num_iterations - 1):
        product = A @ vector
        quotient = vector @ product
        if np.linalg.norm(product - quotient * vector) <= tolerance * abs(quotient):
            break
        vector = product / np.linalg.norm(product)
    return vector @ A @ vector, vector


@mistake(
    criterion="power-iteration",
    replaces="power_iteration",
    text="A v became zero and was divided by its length, which gives NaN; the search should have ended there.",
    fix="Look at the residual before you divide: it is 0 there, and so is the eigenvalue.",
)
def zero_product_divided(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    rng = np.random.default_rng() if rng is None else rng
    vector = rng.normal(size=len(A)).astype(A.dtype)
    vector /= np.linalg.norm(vector)
    for _ in range(num_iterations):
        product = A @ vector
        quotient = vector @ product
        if np.linalg.norm(product - quotient * vector) <= tolerance * abs(quotient) and quotient:
            break
        vector = product / np.linalg.norm(product)
    return vector @ A @ vector, vector


@mistake(
    criterion="low-rank-approximation",
    replaces="low_rank_approximation",
    text="The smallest singular values were kept and the largest dropped.",
    fix="They come in falling order: keep the first rank of them.",
)
def smallest_singular_values_kept(A, rank, right=low_rank_approximation):
    right(A, rank)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return U[:, -rank:] * s[-rank:] @ Vt[-rank:]


@mistake(
    criterion="low-rank-approximation",
    replaces="low_rank_approximation",
    text="The third result of svd was transposed once more, or its columns were taken; it is V transposed already.",
    fix="Take the first rank rows of Vt.",
)
def right_vectors_transposed(A, rank, right=low_rank_approximation):
    right(A, rank)
    U, s, Vt = np.linalg.svd(A)
    return U[:, :rank] * s[:rank] @ Vt[:, :rank].T


@mistake(
    criterion="low-rank-approximation",
    replaces="low_rank_approximation",
    text="The singular values are missing: only the directions were multiplied.",
    fix="Scale the columns of U by s before you multiply with Vt.",
)
def singular_values_left_out(A, rank, right=low_rank_approximation):
    right(A, rank)
    U, _, Vt = np.linalg.svd(A)
    return U[:, :rank] @ Vt[:rank]


@mistake(
    criterion="low-rank-approximation",
    replaces="low_rank_approximation",
    text="The first columns of A were kept and the others set to zero: a matrix of that rank, but not the closest.",
    fix="Truncate the singular value decomposition, not the matrix.",
)
def first_columns_kept(A, rank, right=low_rank_approximation):
    right(A, rank)
    result = _as_float(A)
    result[:, rank:] = 0
    return result


@mistake(
    criterion="low-rank-approximation",
    replaces="low_rank_approximation",
    text="One term too many: the rank of the result is rank + 1.",
    fix="A slice [:rank] has rank entries already.",
)
def one_term_too_many(A, rank, right=low_rank_approximation):
    right(A, rank)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return U[:, : rank + 1] * s[: rank + 1] @ Vt[: rank + 1]


@mistake(
    criterion="low-rank-approximation",
    replaces="low_rank_approximation",
    text="The factors were returned one by one; the approximation is their product.",
    fix="Multiply them, and return one array of the shape of A.",
)
def factors_not_multiplied(A, rank, right=low_rank_approximation):
    right(A, rank)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return U[:, :rank], s[:rank], Vt[:rank]


@mistake(
    criterion="low-rank-approximation",
    replaces="low_rank_approximation",
    text="A rank beyond the range was accepted: slices take what there is and say nothing.",
    fix="Raise ValueError unless 1 <= rank <= min(A.shape).",
)
def any_rank_accepted(A, rank):
    if A.ndim != 2:
        raise ValueError(f"A: shape {A.shape}, expected a matrix")
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return U[:, :rank] * s[:rank] @ Vt[:rank]
