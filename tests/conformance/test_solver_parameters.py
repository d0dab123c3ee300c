"""Every shipped solver names the parameter that is out of its range, or that its data do not allow."""

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from solver_variants import VARIANTS, solver

RNG = np.random.default_rng(0)
Y = np.repeat([1, -1], [20, 30])
X = RNG.normal(size=(50, 3)) + (Y > 0)[:, None]

FRACTION = "rho q delta calibration_size mu asymmetry train_asymmetry"
POSITIVE = (
    "C C_pos C_neg tol eta nu lambda_c gamma_0 epsilon gamma degree cache_size ridge total max_norm "
    "nu_pos nu_neg k_share beta kappa learning_rate temperature"
)
COUNT = (
    "max_iter n_components n_intervals n_splits n_asymmetries n_features_to_select inner n_top batch_size "
    "max_leaf_nodes min_samples_leaf n_layers patience max_rows"
)
CHOICE = (
    "loss sampling update bound kernel threshold strategy surrogate method step accelerate keep classifier stages "
    "tied_total optimizer search_by"
)
INVALID = {
    **dict.fromkeys(FRACTION.split(), (0.0, 1.0, -0.1, np.nan, "0.1")),
    **dict.fromkeys(POSITIVE.split(), (0, -1.0, np.nan, np.inf, "1")),
    **dict.fromkeys(COUNT.split(), (0, -5, 2.5)),
    **dict.fromkeys(CHOICE.split(), ("unknown", 0.5)),
    **dict.fromkeys(("hidden", "warm_up", "init_seed"), (-1, 2.5)),
    **dict.fromkeys(("average", "fit_intercept", "randomized", "warm_start"), ("yes",)),
    **dict.fromkeys(("coef0", "shift", "tau", "group_tau"), (np.nan, "1")),
    "random_state": ("seed",),
    "fpr_range": (0.1,),
    "tpr_range": (0.1,),
    "ratios": (1.0,),
    "cv": (1.5,),
    "estimator": (3,),
    "params": ([1],),
    "contamination": (0.95, "all"),
    **dict.fromkeys(("averaging", "level"), (0.0, 1.1, np.nan)),
    "validation_fraction": (1.0, -0.1, np.nan),
    "weight_decay": (-1.0, np.nan, "1"),
    "constraints": (3, {"feature": 0}),
    "device": (0.5,),
}
FURTHER = {
    ("asvm", "tau"): (0, 1.0),
    ("svm_perf", "k_share"): (1.5,),
    **{(name, "device"): ("unknown",) for name in ("deep_top_push", "sopa_s")},
    **{(name, "tol"): (1.5,) for name in ("sgd", "sgd_nn", "q_nn")},
    **{(name, "tau"): (0, -1.0) for name in ("sgd", "sgd_nn", "q_nn")},
    **{("two_nu_svm", nu): ("half", [0.5, 0.0], [0.5, "a"]) for nu in ("nu_pos", "nu_neg")},
    ("two_nu_svm", "gamma"): ([1.0, -1.0], ["scale", "large"]),
}
BATCHES = {(name, "batch_size") for name in ("deep_top_push", "sopa_s")}
MAY_BE_NONE = BATCHES | {
    ("ac_svm", "max_iter"),
    ("svm_path", "shift"),
    *(("two_nu_svm", nu) for nu in ("nu_pos", "nu_neg")),
}
PARAMETERS = [(name, parameter) for name in VARIANTS for parameter in solver(name).get_params(deep=False)]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_invalid_value_is_named(name, parameter):
    model = solver(name)
    values = INVALID[parameter] + FURTHER.get((name, parameter), ())
    optional = (name, parameter) in MAY_BE_NONE or parameter in ("cv", "n_components")
    if getattr(model, parameter) is not None and not optional:
        values += (None,)
    for value in values:
        with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter of {type(model).__name__}"):
            solver(name, **{parameter: value}).fit(X, Y)


def test_every_range_belongs_to_a_solver():
    assert set(INVALID) == {parameter for _, parameter in PARAMETERS}


WITH_RANGE = [name for name, parameter in PARAMETERS if parameter == "fpr_range"]


@pytest.mark.parametrize("name", WITH_RANGE)
@pytest.mark.parametrize("span", [(0.1,), (0.2, 0.1), (-0.1, 0.5), (0.5, 1.1), ("a", "b"), (np.nan, 0.5), (0.0, 0.001)])
def test_impossible_false_positive_range_is_named(name, span):
    with pytest.raises(ValueError, match="fpr_range"):
        solver(name, fpr_range=span).fit(X, Y)
