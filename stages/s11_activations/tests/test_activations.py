"""Public tests of stage s11: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, numerical_gradient, unchanged

pytestmark = pytest.mark.values

EITHER_GELU = 1e-3  # absolute tolerance that accepts both forms of GELU, by erf and by tanh
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
ALL = ("relu", "leaky_relu", "elu", "tanh", "softplus", "swish", "gelu", "mish")


@pytest.fixture
def z():
    """Two points on the negative side and two on the positive one."""
    return np.array([-2.0, -0.5, 0.5, 3.0])


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def as_list(values):
    """Return a list or array of numbers as a list."""
    return values.tolist() if isinstance(values, np.ndarray) else values


def as_floats(values):
    """Return an array of whole numbers as floats, anything else as it is: another test asks for the dtype."""
    is_whole = isinstance(values, (np.ndarray, np.generic)) and values.dtype.kind in "iu"
    return values.astype(np.float64) if is_whole else values


@pytest.mark.criterion("relu")
class TestRelu:
    def test_what_is_negative_becomes_zero(self, learner):
        assert_array(learner.relu(np.array([-2.0, -0.5, 0.0, 0.5, 3.0])), [0.0, 0.0, 0.0, 0.5, 3.0])

    def test_relu_rises_only_on_the_positive_side(self, learner, z):
        assert_array(as_floats(learner.relu_derivative(z)), [0.0, 0.0, 1.0, 1.0])

    @pytest.mark.dtype
    def test_the_slope_of_relu_is_a_float(self, learner, z):
        assert_array(learner.relu_derivative(z), [0.0, 0.0, 1.0, 1.0], dtype="float64")


@pytest.mark.criterion("leaky-relu")
class TestLeakyRelu:
    def test_what_is_negative_becomes_small(self, learner, z):
        assert_array(learner.leaky_relu(z), [-0.02, -0.005, 0.5, 3.0])

    def test_alpha_is_the_slope_of_the_negative_side(self, learner, z):
        assert_array(learner.leaky_relu(z.copy(), alpha=0.25), [-0.5, -0.125, 0.5, 3.0], name="leaky_relu")
        assert_array(learner.leaky_relu_derivative(z.copy(), alpha=0.25), [0.25, 0.25, 1.0, 1.0], name="derivative")

    def test_leaky_relu_rises_by_a_hundredth_where_it_is_negative(self, learner, z):
        assert_array(learner.leaky_relu_derivative(z), [0.01, 0.01, 1.0, 1.0])


@pytest.mark.criterion("elu")
class TestElu:
    def test_elu_levels_off_at_minus_one(self, learner):
        z = np.array([-20.0, -2.0, -0.5, 0.0, 3.0])
        assert_array(learner.elu(z), [-0.9999999979388, -0.8646647167634, -0.3934693402874, 0.0, 3.0])

    def test_alpha_says_where_elu_levels_off(self, learner, z):
        assert_array(learner.elu(z, alpha=2.0), [-1.7293294335268, -0.7869386805747, 0.5, 3.0])

    def test_slope_of_elu(self, learner, z):
        assert_array(learner.elu_derivative(z.copy()), [0.1353352832366, 0.6065306597126, 1.0, 1.0])
        assert_array(learner.elu_derivative(z.copy(), alpha=2.0), [0.2706705664732, 1.2130613194253, 1.0, 1.0])


@pytest.mark.criterion("tanh")
class TestTanh:
    def test_tanh_squashes_to_between_minus_one_and_one(self, learner, z):
        expected = [-0.9640275800758, -0.4621171572600, 0.4621171572600, 0.9950547536867]
        assert_array(learner.tanh(z), expected)

    def test_tanh_is_steepest_at_zero(self, learner):
        z = np.array([-2.0, 0.0, 0.5, 3.0])
        assert_array(learner.tanh_derivative(z), [0.0706508248532, 1.0, 0.7864477329659, 0.0098660371654])


@pytest.mark.criterion("softplus")
class TestSoftplus:
    def test_softplus_is_a_smooth_relu(self, learner):
        expected = [0.1269280110430, 0.4740769841801, np.log(2.0), 3.0485873515737]
        assert_array(learner.softplus(np.array([-2.0, -0.5, 0.0, 3.0])), expected)

    def test_slope_of_softplus_is_the_sigmoid(self, learner):
        expected = [0.1192029220221, 0.3775406687981, 0.5, 0.9525741268224]
        assert_array(learner.softplus_derivative(np.array([-2.0, -0.5, 0.0, 3.0])), expected)


@pytest.mark.criterion("swish")
class TestSwish:
    def test_swish_is_z_times_its_sigmoid(self, learner, z):
        assert_array(learner.swish(z), [-0.2384058440442, -0.1887703343991, 0.3112296656009, 2.8577223804673])

    def test_beta_sharpens_the_gate(self, learner, z):
        expected = [-0.0359724199242, -0.1344707106850, 0.3655292893150, 2.9925821304517]
        assert_array(learner.swish(z, beta=2.0), expected)

    def test_slope_of_swish(self, learner, z):
        expected = [-0.0907842487848, 0.2600388126973, 0.7399611873027, 1.0881041060152]
        assert_array(learner.swish_derivative(z), expected)


@pytest.mark.criterion("gelu")
class TestGelu:
    def test_gelu_weighs_z_by_the_normal_distribution(self, learner, z):
        expected = [-0.0455002639, -0.1542687694, 0.3457312306, 2.9959503059]
        assert_array(learner.gelu(z), expected, rtol=0, atol=EITHER_GELU)

    def test_slope_of_gelu(self, learner, z):
        expected = [-0.0852318011, 0.1325048753, 0.8674951247, 1.0119456472]
        assert_array(learner.gelu_derivative(z), expected, rtol=0, atol=EITHER_GELU)


@pytest.mark.criterion("mish")
class TestMish:
    def test_mish_is_z_times_tanh_of_softplus(self, learner):
        z = np.array([-2.0, 0.0, 1.0, 3.0])
        assert_array(learner.mish(z), [-0.2525014826957, 0.0, 0.8650983882673, 2.9865350049680])

    def test_slope_of_mish(self, learner):
        z = np.array([-2.0, 0.0, 1.0, 3.0])
        assert_array(learner.mish_derivative(z), [-0.1083550924204, 0.6, 1.0490362200997, 1.0211069109294])


@pytest.mark.criterion("curves")
class TestCurves:
    @pytest.mark.parametrize("name", ALL)
    def test_derivative_is_the_slope_of_its_own_curve(self, learner, z, name):
        slope = numerical_gradient(lambda at: np.sum(getattr(learner, name)(at)), z)
        assert_gradient(as_floats(getattr(learner, f"{name}_derivative")(z)), slope, name=f"{name}_derivative")

    @pytest.mark.edges
    def test_a_kink_has_any_slope_between_those_of_its_sides(self, learner):
        z = np.array([-1.0, 0.0, 1.0])
        for name, more, low, high in (
            ("relu", {}, [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
            ("leaky_relu", {"alpha": 0.25}, [0.25, 0.25, 1.0], [0.25, 1.0, 1.0]),
            ("elu", {}, [0.3678794411714, 1.0, 1.0], [0.3678794411715, 1.0, 1.0]),
        ):
            slopes = getattr(learner, f"{name}_derivative")(z, **more)
            assert_shape(slopes, (3,), name=f"{name}_derivative")
            allowed = np.where(np.isfinite(slopes), np.clip(slopes, low, high), low)
            assert_array(slopes, allowed, name=f"{name}_derivative")

    def test_swish_and_mish_are_level_at_their_minimum(self, learner):
        at_swish, at_mish = np.array([-1.278464542761074]), np.array([-1.192431214515495])
        assert_array(learner.swish(at_swish), [-0.278464542761], name="swish")
        assert_array(learner.swish_derivative(at_swish), [0.0], atol=1e-8, name="swish_derivative")
        assert_array(learner.mish(at_mish), [-0.308843413017], name="mish")
        assert_array(learner.mish_derivative(at_mish), [0.0], atol=1e-8, name="mish_derivative")


@pytest.mark.criterion("arrays")
class TestArrays:
    def test_a_number_gives_a_number(self, learner):
        assert_array(learner.relu(-2.0), 0.0, name="relu")
        assert_array(learner.leaky_relu_derivative(-2.0), 0.01, name="leaky_relu_derivative")
        assert_array(learner.elu_derivative(-2.0), 0.1353352832366, name="elu_derivative")
        assert_array(learner.softplus(0.0), 0.6931471805599, name="softplus")
        assert_array(learner.gelu(0.0), 0.0, name="gelu")

    def test_a_table_gives_a_table(self, learner):
        for name in ALL:
            assert_shape(getattr(learner, name)(np.ones((2, 3))), (2, 3), name=name)
            assert_shape(getattr(learner, f"{name}_derivative")(np.ones((2, 3))), (2, 3), name=f"{name}_derivative")

    @pytest.mark.dtype
    def test_integers_do_not_cut_the_result_off(self, learner):
        z = np.array([-2, 1])
        assert_array(learner.relu_derivative(z), [0.0, 1.0], dtype="float64", name="relu_derivative")
        assert_array(learner.leaky_relu(z), [-0.02, 1.0], name="leaky_relu")
        assert_array(learner.elu(z), [-0.8646647167634, 1.0], name="elu")
        assert_array(learner.softplus(z), [0.1269280110430, 1.3132616875182], name="softplus")

    @pytest.mark.dtype
    def test_float32_stays_single(self, learner):
        z = np.array([-2.0, 3.0], dtype=np.float32)
        assert_array(learner.relu(z), [0.0, 3.0], dtype="float32", name="relu")
        assert_array(learner.swish(z), [-0.2384058, 2.8577224], dtype="float32", name="swish")
        assert_array(learner.relu_derivative(z), [0.0, 1.0], dtype="float32", name="relu_derivative")

    @pytest.mark.purity
    def test_the_argument_stays_as_it_was(self, learner):
        z = np.array([-2.0, 3.0])
        for name in ALL:
            with unchanged(z):
                getattr(learner, name)(z)


@pytest.mark.criterion("extreme-inputs")
@pytest.mark.edges
class TestExtremeInputs:
    FAR = np.array([-1000.0, 1000.0])

    def test_values_far_from_zero(self, learner):
        for name in ("relu", "softplus", "swish", "gelu", "mish"):
            assert_array(getattr(learner, name)(self.FAR.copy()), [0.0, 1000.0], name=name)
        assert_array(learner.leaky_relu(self.FAR.copy()), [-10.0, 1000.0], name="leaky_relu")
        assert_array(learner.elu(self.FAR.copy()), [-1.0, 1000.0], name="elu")
        assert_array(learner.tanh(self.FAR.copy()), [-1.0, 1.0], name="tanh")

    def test_slopes_far_from_zero(self, learner):
        for name in ("relu", "elu", "softplus", "swish", "gelu", "mish"):
            slope = getattr(learner, f"{name}_derivative")(self.FAR.copy())
            assert_array(slope, [0.0, 1.0], name=f"{name}_derivative")
        assert_array(learner.leaky_relu_derivative(self.FAR.copy()), [0.01, 1.0], name="leaky_relu_derivative")
        assert_array(learner.tanh_derivative(self.FAR.copy()), [0.0, 0.0], atol=1e-9, name="tanh_derivative")

    def test_small_values_keep_their_digits(self, learner):
        assert_array(learner.softplus(np.array([-1000.0, 1000.0])), [0.0, 1000.0], name="softplus")
        assert_array(learner.elu(np.array([-1000.0, 1000.0]), alpha=2.0), [-2.0, 1000.0], name="elu")
        assert_array(learner.softplus(np.array([-40.0])), [4.248354255291589e-18], atol=0, name="softplus")
        assert_array(learner.elu(np.array([-1e-12])), [-9.999999999995e-13], atol=0, name="elu")


@pytest.mark.criterion("perceptron-predict")
class TestPerceptronPredict:
    def test_class_one_is_where_the_sum_is_above_zero(self, learner):
        classes = learner.perceptron_predict(CORNERS, np.array([2.0, 1.0]), -1.5)  # sums -1.5, -0.5, 0.5, 1.5
        assert_array(classes, [0, 0, 1, 1])

    @pytest.mark.edges
    def test_a_sum_of_exactly_zero_is_class_zero(self, learner):
        assert_array(learner.perceptron_predict(CORNERS, np.array([2.0, 1.0]), -2.0), [0, 0, 0, 1])

    @pytest.mark.refusals
    def test_one_weight_for_each_feature(self, learner):
        with pytest.raises(ValueError):
            learner.perceptron_predict(np.ones((4, 2)), np.ones(3), 0.0)


@pytest.mark.criterion("perceptron-train")
class TestPerceptronTrain:
    def test_it_learns_or(self, learner):
        result = learner.perceptron_train(CORNERS, np.array([0, 1, 1, 1]), learning_rate=1.0, num_epochs=4)
        weights, bias, errors = unpack(result, "weights", "bias", "errors")
        assert_array(weights, [1.0, 1.0], name="weights")
        assert_array(bias, 0.0, name="bias")
        assert_equal(as_list(errors), [1, 2, 1, 0], name="errors")

    def test_weights_after_one_epoch_of_and(self, learner):
        result = learner.perceptron_train(CORNERS, np.array([0, 0, 0, 1]), learning_rate=0.75, num_epochs=1)
        weights, bias, errors = unpack(result, "weights", "bias", "errors")
        assert_array(weights, [0.75, 0.75], name="weights")
        assert_array(bias, 0.75, name="bias")
        assert_equal(as_list(errors), [1], name="errors")

    def test_it_never_learns_xor(self, learner):
        y = np.array([0, 1, 1, 0])
        result = learner.perceptron_train(CORNERS, y, learning_rate=1.0, num_epochs=6)
        weights, bias, errors = unpack(result, "weights", "bias", "errors")
        assert_equal(as_list(errors), [2, 3, 4, 4, 4, 4], name="errors")
        assert_array(learner.perceptron_predict(CORNERS, weights, bias), [1, 1, 0, 0], name="classes")

    @pytest.mark.refusals
    def test_labels_are_zero_and_one(self, learner):
        with pytest.raises(ValueError):
            learner.perceptron_train(CORNERS, np.array([-1, 1, 1, 1]), learning_rate=1.0, num_epochs=2)


@pytest.mark.criterion("xor-network")
class TestXorNetwork:
    def test_the_four_corners(self, learner):
        result = learner.xor_network(CORNERS)
        assert_shape(result, (4,))
        assert_array(np.asarray(result, dtype=float), [0.0, 1.0, 1.0, 0.0], rtol=0, atol=0.01)

    def test_one_pair_gives_one_number(self, learner):
        result = learner.xor_network(np.array([1.0, 0.0]))
        assert_shape(result, ())
        assert_array(float(result), 1.0, rtol=0, atol=0.01)

    @pytest.mark.refusals
    def test_three_numbers_are_no_pair(self, learner):
        with pytest.raises(ValueError):
            learner.xor_network(np.array([[0.0, 1.0, 1.0]]))
