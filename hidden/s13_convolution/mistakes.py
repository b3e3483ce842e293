"""Known mistakes that are no small change of the reference: results in the dtype of whole numbers."""

from grader.course.answers import mistake
from hidden.s13_convolution.solution import avg_pool2d_forward


@mistake(
    criterion="average-pool",
    replaces="avg_pool2d_forward",
    text="The averages were put into an array of the dtype of x: of whole numbers, every fraction is cut off.",
    fix="np.zeros(shape, x.dtype) holds integers where x does: let np.mean choose the dtype.",
)
def averages_in_the_dtype_of_x(x, pool_size=2, stride=None, right=avg_pool2d_forward):
    out, cache = right(x, pool_size, stride)
    return out.astype(x.dtype), cache
