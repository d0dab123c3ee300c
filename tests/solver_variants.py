"""Settings of every shipped solver that reach its different code paths, for the tests in tests/conformance."""

from sklearn.linear_model import LogisticRegression

from npbench import registry
from npbench.contracts import resolve

SEVERAL_NU = [0.3, 1.0]
NETWORK = {"hidden": 8, "n_layers": 1, "max_iter": 40, "patience": 5, "learning_rate": 0.02}

# Small settings, one for each code path through fit and decision_function that checks can tell from the others.
VARIANTS = {
    "ac_svm": [{}, {"kernel": "linear"}, {"cache_size": 0.001, "n_components": None}],
    "asvm": [{"mu": 0.1, "tau": 0.3}],
    "auc_svm": [{}],
    "deep_top_push": [NETWORK],
    "gen": [{}, {"kernel": "linear", "rho": 0.3}],  # a smaller rho misses more positives than the checks allow
    "greedy_pauc": [{"n_intervals": 10}],
    "np_svm": [
        {},
        {"kernel": "linear"},
        {"cache_size": 0.001, "n_components": None},
        {"kernel": "linear", "cache_size": 0.001},
    ],
    "pat_mat_np": [{}, {"n_components": 8, "random_state": 0}],
    "pauc_boost": [{"max_iter": 6}],
    "pauc_dc": [{"fpr_range": (0.1, 0.5), "C": 100.0}, {"fpr_range": (0.2, 0.6), "n_components": 8}],
    "pauc_minimax": [
        {},
        {"fpr_range": (0.1, 0.5), "tpr_range": (0.2, 1.0), "n_components": 8, "random_state": 0},
    ],
    "pauc_gbdt": [{"max_iter": 20, "min_samples_leaf": 1}],
    "pauc_sbcd": [
        {"fpr_range": (0.1, 0.5), "max_iter": 4, "random_state": 0},
        {"n_components": 8, "max_iter": 4, "random_state": 0},
    ],
    "pauc_struct": [{}, {"fpr_range": (0.0, 0.5), "n_components": 10, "random_state": 0}],
    "q_nn": [{"max_iter": 30}, {"max_iter": 30, "hidden": 0, "loss": "ramp"}],
    "q_svm": [{}],
    "scorer": [
        {"threshold": "zero"},
        {"q": 0.1},
        {"n_splits": 2, "rho": 0.2},
        {"estimator": LogisticRegression(), "params": {"C": 0.5}},
    ],
    "sgd": [
        {"loss": "ramp", "average": False},
        {"sampling": "balanced", "max_iter": 5},
        {"n_components": 8, "max_iter": 5},
    ],
    "sgd_nn": [{"max_iter": 30}, {"max_iter": 30, "hidden": 0, "loss": "ramp"}],
    "sopa_s": [NETWORK],
    "splitting": [
        {"max_norm": 10.0, "keep": "iterates"},
        {"accelerate": "nesterov", "tol": 1e-3, "loss": "matsusita"},
        {"n_features_to_select": 2, "warm_start": True},
        {"constraints": [{"feature": 0, "above": 0.0, "tau": 0.5}], "rho": 0.6},
    ],
    "svm_path": [
        {"n_asymmetries": 9, "cv": 3, "total": 0.5, "rho": 0.1, "kernel": "rbf"},
        {"classifier": "one", "total": 1.0, "kernel": "poly", "degree": 2, "gamma": 0.01, "coef0": 1.0},
    ],
    "svm_perf": [{}, {"loss": "error"}],
    "tau_fpl": [{}, {"n_top": 1, "n_components": 8, "random_state": 0}],
    "two_nu_svm": [
        {"strategy": "wgs", "nu_pos": SEVERAL_NU, "nu_neg": SEVERAL_NU, "gamma": [0.1, "scale"], "cv": 2},
        {"strategy": "bbs", "kernel": "linear", "nu_pos": 0.5, "nu_neg": 0.5},
    ],
    "uzawa": [{"kernel": "linear", "update": "gradient", "nu": 1.0}],
}

# Further code paths that take minutes together, or differ from the ones above only in numerics tested elsewhere.
SLOW_VARIANTS = {
    "ac_svm": [{"kernel": "poly", "degree": 2, "gamma": 0.01, "coef0": 1.0}],
    "asvm": [{}],
    "auc_svm": [{"n_components": 10}],
    "deep_top_push": [{"hidden": 0, "optimizer": "sgd", "learning_rate": 0.1}],
    "gen": [{"kernel": "poly", "degree": 2, "gamma": 0.01, "coef0": 1.0}, {"bound": "gaussian"}],
    "np_svm": [{"kernel": "poly", "degree": 2, "gamma": 0.01, "coef0": 1.0}],
    "pauc_dc": [{}],
    "pauc_minimax": [{"batch_size": 60, "tpr_range": (0.0, 0.8), "tol": 0.1, "random_state": 0}],
    "pauc_sbcd": [{"batch_size": 20, "random_state": 0}],
    "pauc_struct": [{"fpr_range": (0.1, 0.5), "C": 100.0}],
    "q_svm": [{"kernel": "linear", "q": 0.1}],
    "scorer": [
        {},
        {"threshold": "umbrella", "rho": 0.1, "delta": 0.9},
        {"estimator": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 3}},
    ],
    "sgd": [{}],
    "sopa_s": [{"hidden": 0, "temperature": 1.0, "batch_size": None, "validation_fraction": 0.0}],
    "splitting": [{}],
    "svm_path": [{"n_asymmetries": 9, "cv": 3, "ratios": (10,)}],  # explores the total cost: 40 s
    "svm_perf": [{"C": 100.0}],
    "two_nu_svm": [{}, {"strategy": "bs", "cv": 2}],  # leave-one-out for each nu: 60 s
    "uzawa": [{}],
}


def estimators(variants):
    """Return an estimator for each variant of each solver."""
    solvers = registry.installed().solvers
    return [resolve(solvers[name].estimator)(**params) for name, several in variants.items() for params in several]


def solver(name, **params):
    """Return an unfitted estimator of a shipped solver."""
    return resolve(registry.installed().solvers[name].estimator)(**params)
