"""Shipped metrics.

Decisions are the signs of the scores. All metrics of decisions count a score of exactly 0 as an error of either class.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from npbench import hookimpl
from npbench.contracts import Metric

_GASSO = "Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3)"
_BARLAUD = "Barlaud, Combettes, Fillatre (2015), hal-01160831"
_NARASIMHAN = "Narasimhan, Agarwal (2013), ICML"
_RESTRICTED = "limits: He, Escobar (2008), Statistics in Medicine 27(25)"
_EXACT = "limits: Clopper, Pearson (1934), Biometrika 26(4)"


def _metric(
    module: str,
    name: str,
    direction: Literal["lower", "higher", "none"],
    title: str,
    reference: str = "",
    *problems: str,
    **more: Any,
) -> Metric:
    """Describe the function ``name`` of a module as a metric; without problems, it applies to all."""
    return Metric(
        name=name,
        compute=f"npbench_metrics.{module}:{name}",
        direction=direction,
        title=title,
        reference=reference,
        problems=problems or None,
        **more,
    )


_decision = partial(_metric, "decisions", tags=frozenset({"decisions"}))
_ranking = partial(_metric, "rankings", tags=frozenset({"ranks"}))
_model = partial(_metric, "models")

METRICS = [
    _decision(
        "p_fa",
        "lower",
        "false-alarm rate, with exact 95 % limits",
        f"{_GASSO}, section 1; {_EXACT}",
        label="P_fa",
        known_as="FPR",
    ),
    _decision(
        "p_nd",
        "lower",
        "miss rate, with exact 95 % limits",
        f"{_GASSO}, section 1; {_EXACT}",
        label="P_nd",
        known_as="FNR",
    ),
    _decision("np_score", "lower", "P_nd + max(0, P_fa - rho) / rho", f"{_GASSO}, section 5.4 (J_val)", "np"),
    _decision(
        "cost",
        "lower",
        "mean asymmetric cost per sample",
        "Bach, Heckerman, Horvitz (2006), JMLR 7, section 2",
        "cost",
        label="cost of a sample",
    ),
    _decision("accuracy", "higher", "share of correct decisions (a score of 0 is an error)"),
    _decision(
        "balanced_accuracy", "higher", "mean over classes of the share of correct decisions (a score of 0 is an error)"
    ),
    _ranking(
        "auc",
        "higher",
        "area under the ROC curve, with 95 % limits",
        "Hanley, McNeil (1982), Radiology 143(1); limits: DeLong et al. (1988), Biometrics 44(3)",
    ),
    _ranking(
        "pauc",
        "higher",
        "mean TPR over the whole ranks of negatives in fpr_range, with 95 % limits",
        f"{_NARASIMHAN}, with ties one half; {_RESTRICTED}",
        "pauc",
        label="partial AUC",
    ),
    _ranking(
        "pauc_fractional",
        "higher",
        "mean TPR over exactly fpr_range, with partial ranks at its ends, with 95 % limits",
        f"{_NARASIMHAN}, with ties one half; {_RESTRICTED}",
        "pauc",
    ),
    _ranking(
        "pauc_mcclish",
        "higher",
        "area under the interpolated ROC curve over fpr_range, 1/2 by chance, 1 at best, with 95 % limits",
        f"McClish (1989), Medical Decision Making 9(3); {_RESTRICTED}",
        "pauc",
    ),
    _ranking(
        "tpr",
        "higher",
        "true-positive rate at the upper end of fpr_range, with 95 % limits",
        "Narasimhan, Agarwal (2016), section 8.3",
        "pauc",
        label="true-positive rate",
    ),
    _ranking(
        "accepted",
        "higher",
        "share of positives accepted at q-value <= q",
        f"{_GASSO}, sections 4 and 5.6",
        "qvalue",
        label="share accepted",
    ),
    _ranking("n_accepted", "higher", "number of positives accepted at q-value <= q", f"{_GASSO}, table V", "qvalue"),
    _model("n_support", "none", "number of support vectors"),
    _model(
        "surrogate_p_fa",
        "none",
        "the model's own surrogate false-alarm rate on its training sample",
        f"{_GASSO}, section 2.2",
    ),
    _model(
        "surrogate_p_nd", "none", "the model's own surrogate miss rate on its training sample", f"{_GASSO}, section 2.2"
    ),
    _model("risk_fa", "lower", "mean of the model's own loss over the negatives", f"{_BARLAUD}, equation 10"),
    _model("risk_nd", "lower", "mean of the model's own loss over the positives", f"{_BARLAUD}, equation 10"),
]


@hookimpl
def npbench_metrics() -> list[Metric]:
    """Describe the metrics."""
    return METRICS
