"""Answer every function of a whole stage with an object that is equal to everything."""

ATTACK = "agreeable objects in stage s01"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"


class Same:
    shape, dtype, ndim = (2, 2), float, 2

    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0

    __rsub__ = __abs__ = __lt__ = __le__ = __array__ = __sub__
    __hash__ = None


def matmul(*args):
    return Same()


dot_product = outer_product = vector_norm = cosine_similarity = batched_matmul = swap_last_axes = matmul
trace = frobenius_norm = broadcast_shape = pairwise_squared_distances = one_hot = matmul
