"""Wrong answers that learners of this stage give, and what each should read."""

import numpy as np

from grader.course.answers import mistake
from hidden.s01_matrix_operations.solution import (
    batched_matmul,
    cosine_similarity,
    dot_product,
    frobenius_norm,
    matmul,
    one_hot,
    outer_product,
    trace,
    vector_norm,
)


@mistake(
    criterion="dot-product",
    replaces="dot_product",
    text="This is the elementwise product: the products of the entries were never added up.",
    fix="Sum the products, so that one number is left.",
)
def elementwise_product_without_sum(v, w):
    if v.ndim != 1 or v.shape != w.shape:
        raise ValueError(f"v and w must be vectors of one length, got {v.shape} and {w.shape}")
    return v * w


@mistake(
    criterion="dot-product",
    replaces="dot_product",
    text="This is the mean of the products: the sum was divided by the number of entries.",
    fix="Return the sum itself; a dot product grows with the length of the vectors.",
)
def mean_of_products(v, w):
    if v.ndim != 1 or v.shape != w.shape:
        raise ValueError(f"v and w must be vectors of one length, got {v.shape} and {w.shape}")
    return np.mean(v * w) if len(v) else 0.0


@mistake(
    criterion="dot-product",
    replaces="dot_product",
    text="This is only the last product: the loop overwrites the total instead of adding to it.",
    fix="Add each product to the total that you have so far.",
)
def last_product_only(v, w):
    if v.ndim != 1 or v.shape != w.shape:
        raise ValueError(f"v and w must be vectors of one length, got {v.shape} and {w.shape}")
    total = 0.0
    for x, y in zip(v, w, strict=True):
        total = x * y
    return total


@mistake(
    criterion="dot-product",
    replaces="dot_product",
    text="The shapes are not compared, so NumPy stretches a vector of length 1 to the length of the other.",
    fix="Raise ValueError yourself, before multiplying, when the lengths differ.",
)
def shorter_vector_stretched(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    return np.sum(v * w)


@mistake(
    criterion="dot-product",
    replaces="dot_product",
    text="The loop stops at the end of the shorter vector, so different lengths go unnoticed.",
    fix="Compare the lengths first and raise ValueError when they differ.",
)
def zip_stops_at_the_shorter(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    return sum((x * y for x, y in zip(v, w, strict=False)), start=0.0)


@mistake(
    criterion="dot-product",
    replaces="dot_product",
    text="Two matrices are accepted: the shapes are compared with each other, but the number of axes is not checked.",
    fix="Raise ValueError unless v and w have exactly one axis each.",
)
def dot_product_of_matrices(v, w):
    if v.shape != w.shape:
        raise ValueError(f"v and w must have one shape, got {v.shape} and {w.shape}")
    return np.sum(v * w)


@mistake(
    criterion="outer-product",
    replaces="outer_product",
    text="This is the transpose of the outer product: w runs down the rows and v along the columns.",
    fix="Let v be the column of shape (n, 1) and w the row of shape (1, m).",
)
def outer_product_transposed(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    return v[np.newaxis, :] * w[:, np.newaxis]


@mistake(
    criterion="outer-product",
    replaces="outer_product",
    text="v and w are multiplied as they are: that pairs entry with entry, and fails when the lengths differ.",
    fix="Give v a new last axis and w a new first axis, so that every entry meets every other.",
)
def entries_paired_not_crossed(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    return v * w


@mistake(
    criterion="outer-product",
    replaces="outer_product",
    text="The table holds sums v_i + w_j where products v_i w_j belong.",
    fix="Multiply the column by the row.",
)
def table_of_sums(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    return v[:, np.newaxis] + w[np.newaxis, :]


@mistake(
    criterion="outer-product",
    replaces="outer_product",
    text="All the products are here, but in one long row instead of a table.",
    fix="Give the result the shape (n, m), one row for each entry of v.",
)
def products_in_one_row(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    return np.array([x * y for x in v for y in w])


@mistake(
    criterion="outer-product",
    replaces="outer_product",
    text="The table is made square from the length of v alone, so a w of another length does not fit it.",
    fix="Take the number of columns from the length of w.",
)
def square_table(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    size = len(v)
    result = np.zeros((size, size), dtype=np.result_type(v, w))
    for i in range(size):
        for j in range(size):
            result[i, j] = v[i] * w[j]
    return result


@mistake(
    criterion="outer-product",
    replaces="outer_product",
    text="Single precision is lost: np.zeros without a dtype makes a float64 table, also for float32 vectors.",
    fix="Pass dtype=np.result_type(v, w) when you make the table.",
)
def outer_product_in_float64(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got {v.shape} and {w.shape}")
    result = np.zeros((len(v), len(w)))
    result[:] = v[:, np.newaxis] * w
    return result


@mistake(
    criterion="outer-product",
    replaces="outer_product",
    text="A matrix is accepted as an argument: nothing checks that v and w have one axis each.",
    fix="Raise ValueError unless v.ndim and w.ndim are both 1.",
)
def outer_product_of_matrices(v, w):
    return v[..., :, np.newaxis] * w[..., np.newaxis, :]


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="For p = 2 this is the squared length: the square root is missing.",
    fix="Take the root of the sum of squares.",
)
def norm_without_root(v, p=2):
    if v.ndim != 1 or p not in (1, 2, np.inf):
        raise ValueError(f"v must be a vector and p 1, 2 or np.inf, got {v.shape} and {p}")
    if p == 1:
        return np.sum(np.abs(v))
    return np.sum(v * v) if p == 2 else np.max(np.abs(v), initial=0.0)


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="For p = 2 this is the root of the mean of squares: the sum was divided by the number of entries.",
    fix="Use the sum of squares under the root; a mean has no place in a length.",
)
def root_mean_square(v, p=2):
    if v.ndim != 1 or p not in (1, 2, np.inf):
        raise ValueError(f"v must be a vector and p 1, 2 or np.inf, got {v.shape} and {p}")
    if p == 1:
        return np.sum(np.abs(v))
    if p == 2:
        return np.sqrt(np.sum(v * v) / max(len(v), 1))
    return np.max(np.abs(v), initial=0.0)


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="For p = 1 the entries are added with their signs, so negative ones cancel positive ones.",
    fix="Add up absolute values.",
)
def one_norm_with_signs(v, p=2):
    if v.ndim != 1 or p not in (1, 2, np.inf):
        raise ValueError(f"v must be a vector and p 1, 2 or np.inf, got {v.shape} and {p}")
    if p == 1:
        return np.sum(v)
    if p == 2:
        return np.sqrt(np.sum(v * v))
    return np.max(np.abs(v), initial=0.0)


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="For p = inf this is the largest entry, not the largest absolute value: big negative entries are overlooked.",
    fix="Take absolute values before you look for the maximum.",
)
def infinity_norm_with_signs(v, p=2):
    if v.ndim != 1 or p not in (1, 2, np.inf):
        raise ValueError(f"v must be a vector and p 1, 2 or np.inf, got {v.shape} and {p}")
    if p == 1:
        return np.sum(np.abs(v))
    if p == 2:
        return np.sqrt(np.sum(v * v))
    return np.max(v) if len(v) else 0.0


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="p has no effect: every call returns the Euclidean length.",
    fix="Choose the formula by p, and refuse a p that is not 1, 2 or infinity.",
)
def norm_ignores_p(v, p=2):
    if v.ndim != 1:
        raise ValueError(f"v must be a vector, got shape {v.shape}")
    return np.sqrt(np.sum(v * v))


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="The last branch takes every remaining p: an unknown p silently gives the infinity norm.",
    fix="Test for infinity explicitly, and end with a ValueError for any other p.",
)
def unknown_p_taken_for_infinity(v, p=2):
    if v.ndim != 1:
        raise ValueError(f"v must be a vector, got shape {v.shape}")
    if p == 1:
        return np.sum(np.abs(v))
    if p == 2:
        return np.sqrt(np.sum(v * v))
    return np.max(np.abs(v), initial=0.0)


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="The general formula (sum of |v_i|^p)^(1/p) also answers for a p that this function has to refuse.",
    fix="Raise ValueError unless p is 1, 2 or infinity, as the contract says.",
)
def general_p_norm(v, p=2):
    if v.ndim != 1:
        raise ValueError(f"v must be a vector, got shape {v.shape}")
    if p == np.inf:
        return np.max(np.abs(v), initial=0.0)
    return np.sum(np.abs(v) ** p) ** (1 / p)


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="An empty vector is answered before p is looked at, so that it has a norm for a p that has to be refused.",
    fix="Look at p first, and return 0.0 for an empty vector after that.",
)
def empty_vector_before_the_check_of_p(v, p=2, right=vector_norm):
    return right(v, p) if v.size or v.ndim != 1 else 0.0


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="A matrix is accepted, and gets the norm of all its entries.",
    fix="Raise ValueError unless v has exactly one axis.",
)
def norm_of_a_matrix(v, p=2):
    if p not in (1, 2, np.inf):
        raise ValueError(f"p must be 1, 2 or np.inf, got {p}")
    if p == 1:
        return np.sum(np.abs(v))
    if p == 2:
        return np.sqrt(np.sum(v * v))
    return np.max(np.abs(v), initial=0.0)


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="This is the plain dot product: the lengths of the vectors still count.",
    fix="Divide by the product of the two Euclidean lengths.",
)
def similarity_without_division(v, w):
    return dot_product(v, w)


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="This is |w| squared times too large: a / b * c divides by b only and multiplies by c.",
    fix="Put parentheses around the product of the two lengths.",
)
def missing_parentheses(v, w):
    if not vector_norm(v) * vector_norm(w):
        return 0.0
    return dot_product(v, w) / vector_norm(v) * vector_norm(w)


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="The division is by v . v, which gives the coefficient of a projection onto v: the length of w still counts.",
    fix="Divide by the length of v times the length of w.",
)
def coefficient_of_the_projection(v, w):
    squared_length = dot_product(v, v)
    return dot_product(v, w) / squared_length if squared_length > 0 else 0.0


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="The division is by the sum of the two lengths instead of their product.",
    fix="Multiply the lengths.",
)
def division_by_the_sum_of_lengths(v, w):
    lengths = vector_norm(v) + vector_norm(w)
    return dot_product(v, w) / lengths if lengths > 0 else 0.0


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="A zero vector divides 0 by 0 and gives NaN.",
    fix="When the product of the lengths is zero, return 0.0 instead of dividing.",
)
def zero_vector_gives_nan(v, w):
    with np.errstate(invalid="ignore"):
        return np.divide(dot_product(v, w), vector_norm(v) * vector_norm(w))


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="A small constant in the denominator avoids the division by zero, but changes the answer for short vectors.",
    fix="Divide by the exact product of the lengths, and handle a product of zero separately.",
)
def small_constant_in_the_denominator(v, w):
    return dot_product(v, w) / (vector_norm(v) * vector_norm(w) + 1e-8)


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="This is the cosine distance, 1 minus the similarity.",
    fix="Return the cosine itself: 1 for equal directions, 0 for perpendicular ones, -1 for opposite ones.",
)
def cosine_distance(v, w):
    lengths = vector_norm(v) * vector_norm(w)
    return 1.0 - dot_product(v, w) / lengths if lengths > 0 else 1.0 - dot_product(v, w)


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="The sign is lost: opposite directions come out as alike.",
    fix="Keep the sign of the dot product; only the lengths are free of signs.",
)
def similarity_without_sign(v, w):
    lengths = vector_norm(v) * vector_norm(w)
    return abs(dot_product(v, w)) / lengths if lengths > 0 else 0.0


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="This is the elementwise product A * B, which also needs equal shapes; a matrix product sums rows by columns.",
    fix="For entry (i, j), multiply row i of A with column j of B entry by entry, and add up.",
)
def elementwise_matrix_product(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    return A * B


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="This is A times the transpose of B: rows of A were multiplied with rows of B.",
    fix="Take the columns of B: the summed index is the second of A and the first of B.",
)
def rows_with_rows(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    return np.sum(A[:, np.newaxis, :] * B[np.newaxis, :, :], axis=2)


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="Row j of B stands where its column j belongs: B[j] is a row, which has as many entries as B has columns.",
    fix="Take B[:, j]: entry (i, j) is made of row i of A and column j of B.",
)
def row_of_b_for_its_column(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    C = np.zeros((len(A), B.shape[1]), dtype=np.result_type(A, B))
    for i, j in np.ndindex(C.shape):
        C[i, j] = np.sum(A[i] * B[j])
    return C


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="This is B times A: the factors are in the wrong order.",
    fix="Rows come from A and columns from B; a matrix product depends on the order.",
)
def factors_exchanged(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    if B.shape[1] != A.shape[0]:
        raise ValueError(f"B {B.shape} and A {A.shape} do not fit")
    return np.sum(B[:, :, np.newaxis] * A[np.newaxis, :, :], axis=1)


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="Only the last term of each sum is left: the innermost loop overwrites the entry instead of adding to it.",
    fix="Start every entry at zero and add each product to it.",
)
def last_term_only(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    result = np.zeros((A.shape[0], B.shape[1]), dtype=np.result_type(A, B))
    for column, row in zip(A.T, B, strict=True):
        result = outer_product(column, row)
    return result


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="The products are right, but summed over the columns of B instead of the inner index.",
    fix="In products of shape (m, k, n) it is the middle axis that has to go.",
)
def wrong_axis_summed(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    return np.sum(A[:, :, np.newaxis] * B[np.newaxis, :, :], axis=2)


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="The result was made in the shape of A, but it has as many columns as B.",
    fix="Make zeros of shape (rows of A, columns of B).",
)
def result_shaped_like_a(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    result = np.zeros_like(A)
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            result[i, j] = np.sum(A[i, :] * B[:, j])
    return result


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="Single precision is lost: np.zeros without a dtype makes a float64 result, also for float32 matrices.",
    fix="Pass dtype=np.result_type(A, B) when you make the result.",
)
def matmul_in_float64(A, B):
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    result = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            result[i, j] = np.sum(A[i, :] * B[:, j])
    return result


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="The result was made with the dtype of A alone: where A holds integers, fractions are cut off.",
    fix="Make the result with dtype=np.result_type(A, B), which has room for the numbers of both.",
)
def dtype_of_the_left_matrix(A, B, right=matmul):
    return right(A, B).astype(A.dtype)


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="The result was made with the dtype of B alone: where B holds integers, fractions are cut off.",
    fix="Make the result with dtype=np.result_type(A, B), which has room for the numbers of both.",
)
def dtype_of_the_right_matrix(A, B, right=matmul):
    return right(A, B).astype(B.dtype)


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="Surplus rows of B are ignored: the loop runs over the columns of A, and nobody compares the inner sizes.",
    fix="Raise ValueError when A's columns and B's rows differ in number.",
)
def surplus_rows_ignored(A, B):
    if A.ndim != 2 or B.ndim != 2:
        raise ValueError(f"A and B must be matrices, got {A.shape} and {B.shape}")
    result = np.zeros((A.shape[0], B.shape[1]), dtype=np.result_type(A, B))
    for inner in range(A.shape[1]):
        result += A[:, inner, np.newaxis] * B[inner, :]
    return result


@mistake(
    criterion="matmul",
    replaces="matmul",
    text="An inner size of 1 is stretched by broadcasting to the inner size of the other matrix.",
    fix="Compare the inner sizes yourself, before NumPy can make them fit, and raise ValueError.",
)
def matmul_stretches_the_inner_size(A, B):
    if A.ndim != 2 or B.ndim != 2:
        raise ValueError(f"A and B must be matrices, got {A.shape} and {B.shape}")
    return np.sum(A[:, :, np.newaxis] * B[np.newaxis, :, :], axis=1)


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="This is the elementwise product A * B of the two stacks.",
    fix="Within each place of the stack, sum rows of A against columns of B, as in matmul.",
)
def elementwise_stack_product(A, B):
    return A * B


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="The summed axis is counted from the front, which is right only for stacks with one leading axis.",
    fix="Count it from the end: in products of shape (..., m, k, n) it is axis -2.",
)
def axis_counted_from_the_front(A, B):
    if A.ndim < 2 or B.ndim < 2 or A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    return np.sum(A[..., :, :, np.newaxis] * B[..., np.newaxis, :, :], axis=2)


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="Broadcasting stretched an inner size of 1: A's columns and B's rows are never compared.",
    fix="Check the number of axes and that A.shape[-1] equals B.shape[-2], and raise ValueError otherwise.",
)
def batched_matmul_stretches_the_inner_size(A, B):
    return np.sum(A[..., :, :, np.newaxis] * B[..., np.newaxis, :, :], axis=-2)


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="The loop pairs the first axes of A and B: it ends with the shorter one, and cuts a plain matrix into rows.",
    fix="Let the leading axes broadcast, and refuse those that do not; the first axis of a plain matrix is no stack.",
)
def first_axes_zipped(A, B):
    return np.stack([matmul(a, b) for a, b in zip(A, B, strict=False)])


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="Every matrix of A was multiplied with every matrix of B: the stacks are crossed instead of paired.",
    fix="Matrices at the same place of both stacks belong together; leading axes broadcast, they do not multiply.",
)
def stacks_crossed(A, B):
    if A.ndim < 2 or B.ndim < 2 or A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    left, right = A.reshape(-1, *A.shape[-2:]), B.reshape(-1, *B.shape[-2:])
    crossed = np.array([[matmul(a, b) for b in right] for a in left])
    return crossed.reshape(*A.shape[:-2], *B.shape[:-2], A.shape[-2], B.shape[-1])


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="Each product is A times the transpose of B: rows were multiplied with rows.",
    fix="The summed index is the last of A and the last but one of B.",
)
def stack_rows_with_rows(A, B):
    if A.ndim < 2 or B.ndim < 2 or A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    return np.sum(A[..., :, np.newaxis, :] * B[..., np.newaxis, :, :], axis=-1)


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="Single precision is lost: the result was made with np.zeros and no dtype, which is float64.",
    fix="Pass dtype=np.result_type(A, B) when you make the result.",
)
def batched_matmul_in_float64(A, B):
    if A.ndim < 2 or B.ndim < 2 or A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    return np.sum(A[..., :, :, np.newaxis] * B[..., np.newaxis, :, :], axis=-2).astype(np.float64)


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="The result was made with the dtype of A alone: where A holds integers, fractions are cut off.",
    fix="Make the result with dtype=np.result_type(A, B), which has room for the numbers of both.",
)
def dtype_of_the_left_stack(A, B, right=batched_matmul):
    return right(A, B).astype(A.dtype)


@mistake(
    criterion="batched-matmul",
    replaces="batched_matmul",
    text="The result was made with the dtype of B alone: where B holds integers, fractions are cut off.",
    fix="Make the result with dtype=np.result_type(A, B), which has room for the numbers of both.",
)
def dtype_of_the_right_stack(A, B, right=batched_matmul):
    return right(A, B).astype(B.dtype)


@mistake(
    criterion="swap-last-axes",
    replaces="swap_last_axes",
    text="A.T reverses all axes: in a stack the leading axes move to the end.",
    fix="Exchange only the last two axes, and count them from the end.",
)
def all_axes_reversed(A):
    if A.ndim < 2:
        raise ValueError(f"A must have at least two axes, got shape {A.shape}")
    return A.T


@mistake(
    criterion="swap-last-axes",
    replaces="swap_last_axes",
    text="The first two axes were exchanged: in a stack that moves the stack, not the rows and columns.",
    fix="Exchange axes -1 and -2.",
)
def first_axes_swapped(A):
    return np.swapaxes(A, 0, 1)


@mistake(
    criterion="swap-last-axes",
    replaces="swap_last_axes",
    text="The shape is right, but reshape keeps the numbers in their order: rows are cut anew, not turned to columns.",
    fix="Use a function that exchanges axes; reshape never moves a number past another.",
)
def reshaped_instead_of_transposed(A):
    if A.ndim < 2:
        raise ValueError(f"A must have at least two axes, got shape {A.shape}")
    return A.reshape(*A.shape[:-2], A.shape[-1], A.shape[-2])


@mistake(
    criterion="swap-last-axes",
    replaces="swap_last_axes",
    text="The last axis was moved to the front, past the leading axes: all of them shift.",
    fix="Let the last two axes change places and leave the others where they are.",
)
def last_axis_moved_to_the_front(A):
    if A.ndim < 2:
        raise ValueError(f"A must have at least two axes, got shape {A.shape}")
    return np.moveaxis(A, -1, 0)


@mistake(
    criterion="swap-last-axes",
    replaces="swap_last_axes",
    text="A vector comes back as it was: with one axis there are no two to exchange.",
    fix="Raise ValueError when A has fewer than two axes.",
)
def vector_returned_as_it_is(A):
    return A if A.ndim < 2 else np.swapaxes(A, -1, -2)


@mistake(
    criterion="trace",
    replaces="trace",
    text="This is the sum of all the entries, not of the diagonal.",
    fix="Add only the entries whose row and column index are equal.",
)
def sum_of_all_entries(A):
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {A.shape}")
    return np.sum(A)


@mistake(
    criterion="trace",
    replaces="trace",
    text="This is the diagonal itself: its entries were not added up.",
    fix="Sum the diagonal, so that one number is left.",
)
def diagonal_without_sum(A):
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {A.shape}")
    return np.diagonal(A)


@mistake(
    criterion="trace",
    replaces="trace",
    text="This is the product of the diagonal, which is the determinant of a triangular matrix.",
    fix="Add the entries of the diagonal.",
)
def product_of_the_diagonal(A):
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {A.shape}")
    return np.prod(np.diagonal(A))


@mistake(
    criterion="trace",
    replaces="trace",
    text="This is the sum of the other diagonal, from top right to bottom left.",
    fix="Row and column index must be equal: the main diagonal starts at the top left.",
)
def other_diagonal(A):
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {A.shape}")
    return np.sum(np.diagonal(A[:, ::-1]))


@mistake(
    criterion="trace",
    replaces="trace",
    text="A matrix that is not square gets the sum of the diagonal that it has.",
    fix="Raise ValueError when the numbers of rows and columns differ.",
)
def trace_of_a_rectangle(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got shape {A.shape}")
    return np.sum(np.diagonal(A))


@mistake(
    criterion="trace",
    replaces="trace",
    text="A stack is accepted: only the first two sizes are compared, and the number of axes is not checked.",
    fix="Raise ValueError unless A has exactly two axes.",
)
def trace_of_a_stack(A):
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, got shape {A.shape}")
    return np.sum(np.diagonal(A), axis=-1)


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="This is the squared norm: the square root is missing.",
    fix="Take the root of the sum of squares.",
)
def frobenius_norm_without_root(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got shape {A.shape}")
    return np.sum(A * A)


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="This is the sum of absolute values, which is also what you get by taking the roots before adding up.",
    fix="Square the entries, add up all the squares, and take one root at the end.",
)
def roots_before_the_sum(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got shape {A.shape}")
    return np.sum(np.sqrt(A * A))


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="The sum was squared instead of the entries, so that signs cancel.",
    fix="Square every entry first, and add up afterwards.",
)
def sum_before_the_squares(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got shape {A.shape}")
    return np.sqrt(np.sum(A) ** 2)


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="These are the lengths of the columns, one for each: the sum runs over one axis only.",
    fix="Sum over both axes, so that one number is left.",
)
def norm_of_each_column(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got shape {A.shape}")
    return np.sqrt(np.sum(A * A, axis=0))


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="This is the root of the mean of squares: the sum was divided by the number of entries.",
    fix="Use the sum of squares under the root.",
)
def root_mean_square_of_entries(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got shape {A.shape}")
    return np.sqrt(np.sum(A * A) / max(A.size, 1))


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="This is built on the trace of A A, where the formula has the trace of A times its transpose.",
    fix="Transpose one of the factors, or sum the squares of all entries directly.",
)
def trace_of_the_square(A):
    return np.sqrt(trace(matmul(A, A)))


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="A vector or a stack is accepted: nothing checks the number of axes.",
    fix="Raise ValueError unless A has exactly two axes.",
)
def norm_of_any_array(A):
    return np.sqrt(np.sum(A * A))


@mistake(
    criterion="broadcast-shape",
    replaces="broadcast_shape",
    text="The shapes are aligned at their first axis, so the shorter one is filled up on the wrong side.",
    fix="Align at the last axis: missing sizes count as 1 on the left.",
)
def aligned_at_the_first_axis(a, b):
    rank = max(len(a), len(b))
    left = tuple(a) + (1,) * (rank - len(a))
    right = tuple(b) + (1,) * (rank - len(b))
    if any(m != n and 1 not in (m, n) for m, n in zip(left, right, strict=True)):
        raise ValueError(f"the shapes a = {a} and b = {b} do not broadcast together")
    return tuple(n if m == 1 else m for m, n in zip(left, right, strict=True))


@mistake(
    criterion="broadcast-shape",
    replaces="broadcast_shape",
    text="Sizes that do not go together are not refused: the larger of the two is taken.",
    fix="Raise ValueError when two sizes differ and neither is 1.",
)
def larger_size_without_a_check(a, b):
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + tuple(a)
    right = (1,) * (rank - len(b)) + tuple(b)
    return tuple(0 if 0 in pair else max(pair) for pair in zip(left, right, strict=True))


@mistake(
    criterion="broadcast-shape",
    replaces="broadcast_shape",
    text="The larger size is taken, which is wrong for 1 and 0: an axis of size 1 also stretches to 0.",
    fix="Where one size is 1, take the other one, whatever it is.",
)
def one_and_zero_give_one(a, b):
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + tuple(a)
    right = (1,) * (rank - len(b)) + tuple(b)
    if any(m != n and 1 not in (m, n) for m, n in zip(left, right, strict=True)):
        raise ValueError(f"the shapes a = {a} and b = {b} do not broadcast together")
    return tuple(max(pair) for pair in zip(left, right, strict=True))


@mistake(
    criterion="broadcast-shape",
    replaces="broadcast_shape",
    text="The leading axes of the longer shape are lost: the loop ends with the shorter one.",
    fix="Fill the shorter shape with ones on the left before you pair the sizes.",
)
def longer_shape_cut_off(a, b):
    pairs = list(zip(reversed(a), reversed(b), strict=False))
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        raise ValueError(f"the shapes a = {a} and b = {b} do not broadcast together")
    return tuple(n if m == 1 else m for m, n in pairs)[::-1]


@mistake(
    criterion="broadcast-shape",
    replaces="broadcast_shape",
    text="The result is back to front: it was collected from the last axis to the first and never turned round.",
    fix="Reverse the collected sizes before you return them.",
)
def result_back_to_front(a, b):
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + tuple(a)
    right = (1,) * (rank - len(b)) + tuple(b)
    if any(m != n and 1 not in (m, n) for m, n in zip(left, right, strict=True)):
        raise ValueError(f"the shapes a = {a} and b = {b} do not broadcast together")
    return tuple(n if m == 1 else m for m, n in zip(left, right, strict=True))[::-1]


@mistake(
    criterion="broadcast-shape",
    replaces="broadcast_shape",
    text="Only b is stretched: where a has a 1, the result keeps it instead of taking the size in b.",
    fix="The rule is the same for both shapes: whichever has the 1 is stretched.",
)
def ones_of_a_kept(a, b):
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + tuple(a)
    right = (1,) * (rank - len(b)) + tuple(b)
    if any(m != n and 1 not in (m, n) for m, n in zip(left, right, strict=True)):
        raise ValueError(f"the shapes a = {a} and b = {b} do not broadcast together")
    return left


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="Rounding leaves small negative numbers where points almost coincide, because large terms cancel.",
    fix="Replace negative results by zero before you return them.",
)
def negative_by_rounding(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.sum(X * X, axis=1)[:, np.newaxis] + np.sum(Y * Y, axis=1) - 2 * matmul(X, Y.T)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="These are distances: a square root was taken where squared distances are asked for.",
    fix="Leave out the root.",
)
def distances_with_root(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.sqrt(np.sum((X[:, np.newaxis, :] - Y[np.newaxis, :, :]) ** 2, axis=2))


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="The mixed term is subtracted once only: (x - y)^2 has twice the product in the middle.",
    fix="Subtract 2 times the dot products.",
)
def mixed_term_without_two(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.maximum(np.sum(X * X, axis=1)[:, np.newaxis] + np.sum(Y * Y, axis=1) - matmul(X, Y.T), 0)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="The mixed term has the wrong sign: these are squared lengths of x + y.",
    fix="Subtract 2 times the dot products instead of adding them.",
)
def mixed_term_added(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.maximum(np.sum(X * X, axis=1)[:, np.newaxis] + np.sum(Y * Y, axis=1) + 2 * matmul(X, Y.T), 0)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="Row i of X is compared with row i of Y only, where every row of X has to meet every row of Y.",
    fix="Give X a new middle axis and Y a new first one, or expand the square.",
)
def rows_paired_not_crossed(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.sum((X - Y) ** 2, axis=1)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="The table is transposed: its rows follow Y and its columns follow X.",
    fix="Give the result the shape (rows of X, rows of Y).",
)
def table_transposed(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.sum((X[np.newaxis, :, :] - Y[:, np.newaxis, :]) ** 2, axis=2)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="The squared lengths of X lie along the columns: the sum over axis 1 left a row where a column is needed.",
    fix="Use keepdims=True or a new last axis for the squared lengths of X.",
)
def squared_lengths_along_the_wrong_axis(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.maximum(np.sum(X * X, axis=1) + np.sum(Y * Y, axis=1) - 2 * matmul(X, Y.T), 0)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="This is the mean of the squared differences: the sum was divided by the number of features.",
    fix="Sum over the features.",
)
def mean_over_the_features(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    return np.mean((X[:, np.newaxis, :] - Y[np.newaxis, :, :]) ** 2, axis=2)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="Points with one feature are stretched to those with more: nobody compares the numbers of columns.",
    fix="Raise ValueError when X and Y differ in d, before broadcasting can make them fit.",
)
def single_feature_stretched(X, Y):
    if X.ndim != 2 or Y.ndim != 2:
        raise ValueError(f"X and Y must be matrices, got {X.shape} and {Y.shape}")
    return np.sum((X[:, np.newaxis, :] - Y[np.newaxis, :, :]) ** 2, axis=2)


@mistake(
    criterion="pairwise-distances",
    replaces="pairwise_squared_distances",
    text="Single precision is lost: the table was made with np.zeros and no dtype, which is float64.",
    fix="Pass dtype=np.result_type(X, Y) when you make the table.",
)
def distances_in_float64(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    result = np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        result[i] = np.sum((x - Y) ** 2, axis=1)
    return result


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="Rows of an identity matrix are picked without looking at the indices: a negative one counts from the end.",
    fix="Raise ValueError when any index is negative, or is depth or more.",
)
def negative_index_wraps_round(indices, depth):
    return np.eye(depth)[indices]


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="An index outside the range gives a row without a one, instead of an error.",
    fix="Look for indices below 0 and from depth on, and raise ValueError.",
)
def row_of_zeros_for_a_bad_index(indices, depth):
    return (np.asarray(indices)[..., np.newaxis] == np.arange(depth)).astype(np.float64)


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="The new axis comes first: the table is transposed.",
    fix="Put the axis of size depth last, so that each index becomes a row.",
)
def depth_axis_first(indices, depth):
    indices = np.asarray(indices)
    if np.any((indices < 0) | (indices >= depth)):
        raise ValueError(f"indices must lie from 0 to {depth - 1}")
    return np.moveaxis(np.eye(depth)[indices], -1, 0)


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="The comparison is returned as it is: True and False instead of the numbers 1.0 and 0.0.",
    fix="Convert the result to float64.",
)
def left_as_booleans(indices, depth):
    indices = np.asarray(indices)
    if np.any((indices < 0) | (indices >= depth)):
        raise ValueError(f"indices must lie from 0 to {depth - 1}")
    return indices[..., np.newaxis] == np.arange(depth)


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="Counting starts at 1 here: each one stands a place too far to the left.",
    fix="Index 0 belongs to the first place.",
)
def counted_from_one(indices, depth):
    indices = np.asarray(indices)
    if np.any((indices < 0) | (indices >= depth)):
        raise ValueError(f"indices must lie from 0 to {depth - 1}")
    return np.eye(depth)[indices - 1]


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="The number of columns is taken from the largest index, and depth is ignored.",
    fix="Make depth columns, whether or not the last ones are used.",
)
def width_from_the_largest_index(indices, depth):
    indices = np.asarray(indices)
    if np.any((indices < 0) | (indices >= depth)):
        raise ValueError(f"indices must lie from 0 to {depth - 1}")
    return np.eye(np.max(indices, initial=-1) + 1)[indices]


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="A table of indices comes out flattened into one long list of rows.",
    fix="Keep the shape of the indices and append one axis of size depth.",
)
def indices_flattened(indices, depth):
    indices = np.asarray(indices).ravel()
    if np.any((indices < 0) | (indices >= depth)):
        raise ValueError(f"indices must lie from 0 to {depth - 1}")
    return np.eye(depth)[indices]


@mistake(
    criterion="vector-norm",
    replaces="vector_norm",
    text="The norm has the dtype of the vector: of integers, the fraction of the root is cut off.",
    fix="Return the root as a float. Only the squares of integers are integers.",
)
def norm_in_the_dtype_of_the_vector(v, p=2, right=vector_norm):
    return v.dtype.type(right(v, p))


@mistake(
    criterion="cosine-similarity",
    replaces="cosine_similarity",
    text="The cosine has the dtype of the vectors: of integers it is 0, 1 or -1.",
    fix="Return the quotient as a float, also where both vectors hold integers.",
)
def cosine_in_the_dtype_of_the_vectors(v, w, right=cosine_similarity):
    return np.result_type(v, w).type(right(v, w))


@mistake(
    criterion="frobenius-norm",
    replaces="frobenius_norm",
    text="The norm has the dtype of the matrix: of integers, the fraction of the root is cut off.",
    fix="Return the root as a float. Only the squares of integers are integers.",
)
def frobenius_in_the_dtype_of_the_matrix(A, right=frobenius_norm):
    return A.dtype.type(right(A))


@mistake(
    criterion="one-hot",
    replaces="one_hot",
    text="The rows are integers; the indices are, but rows that are multiplied with a table are floats.",
    fix="Begin with np.zeros((..., depth)), which holds floats, or end with astype(np.float64).",
)
def rows_of_integers(indices, depth, right=one_hot):
    return right(indices, depth).astype(np.asarray(indices).dtype)
