"""Shipped metrics.

Decisions are the signs of the scores. A score of exactly 0 is no decision: all metrics of decisions count it as an
error of either class.
"""

from npbench import hookimpl
from npbench.contracts import Metric

_GASSO = "Gasso, Pappaioannou, Spivak, Bottou (2011), ACM TIST 2(3)"
_BARLAUD = "Barlaud, Combettes, Fillatre (2015), hal-01160831"
_NARASIMHAN = "Narasimhan, Agarwal (2013), ICML"
_RESTRICTED = "limits: He, Escobar (2008), Statistics in Medicine 27(25)"
_EXACT = "limits: Clopper, Pearson (1934), Biometrika 26(4)"


@hookimpl
def npbench_metrics() -> list[Metric]:
    """Describe the metrics."""
    return [
        Metric(
            name="p_fa",
            label="P_fa",
            known_as="FPR",
            compute="npbench_metrics.decisions:p_fa",
            direction="lower",
            title="false-alarm rate, with exact 95 % limits",
            reference=f"{_GASSO}, section 1; {_EXACT}",
            tags=frozenset({"decisions"}),
        ),
        Metric(
            name="p_nd",
            label="P_nd",
            known_as="FNR",
            compute="npbench_metrics.decisions:p_nd",
            direction="lower",
            title="miss rate, with exact 95 % limits",
            reference=f"{_GASSO}, section 1; {_EXACT}",
            tags=frozenset({"decisions"}),
        ),
        Metric(
            name="np_score",
            compute="npbench_metrics.decisions:np_score",
            direction="lower",
            problems=("np",),
            title="P_nd + max(0, P_fa - rho) / rho",
            reference=f"{_GASSO}, section 5.4 (J_val)",
            tags=frozenset({"decisions"}),
        ),
        Metric(
            name="cost",
            label="cost of a sample",
            compute="npbench_metrics.decisions:cost",
            direction="lower",
            problems=("cost",),
            title="mean asymmetric cost per sample",
            reference="Bach, Heckerman, Horvitz (2006), JMLR 7, section 2",
            tags=frozenset({"decisions"}),
        ),
        Metric(
            name="accuracy",
            compute="npbench_metrics.decisions:accuracy",
            direction="higher",
            title="share of correct decisions (a score of 0 is an error)",
            tags=frozenset({"decisions"}),
        ),
        Metric(
            name="balanced_accuracy",
            compute="npbench_metrics.decisions:balanced_accuracy",
            direction="higher",
            title="mean over classes of the share of correct decisions (a score of 0 is an error)",
            tags=frozenset({"decisions"}),
        ),
        Metric(
            name="auc",
            compute="npbench_metrics.rankings:auc",
            direction="higher",
            title="area under the ROC curve, with 95 % limits",
            reference="Hanley, McNeil (1982), Radiology 143(1); limits: DeLong et al. (1988), Biometrics 44(3)",
            tags=frozenset({"ranks"}),
        ),
        Metric(
            name="pauc",
            label="partial AUC",
            compute="npbench_metrics.rankings:pauc",
            direction="higher",
            problems=("pauc",),
            title="mean TPR over the whole ranks of negatives in fpr_range, with 95 % limits",
            reference=f"{_NARASIMHAN}, with ties one half; {_RESTRICTED}",
            tags=frozenset({"ranks"}),
        ),
        Metric(
            name="pauc_fractional",
            compute="npbench_metrics.rankings:pauc_fractional",
            direction="higher",
            problems=("pauc",),
            title="mean TPR over exactly fpr_range, with partial ranks at its ends, with 95 % limits",
            reference=f"{_NARASIMHAN}, with ties one half; {_RESTRICTED}",
            tags=frozenset({"ranks"}),
        ),
        Metric(
            name="pauc_mcclish",
            compute="npbench_metrics.rankings:pauc_mcclish",
            direction="higher",
            problems=("pauc",),
            title="area under the interpolated ROC curve over fpr_range, 1/2 by chance, 1 at best, with 95 % limits",
            reference=f"McClish (1989), Medical Decision Making 9(3); {_RESTRICTED}",
            tags=frozenset({"ranks"}),
        ),
        Metric(
            name="tpr",
            label="true-positive rate",
            compute="npbench_metrics.rankings:tpr",
            direction="higher",
            problems=("pauc",),
            title="true-positive rate at the upper end of fpr_range, with 95 % limits",
            reference="Narasimhan, Agarwal (2016), section 8.3",
            tags=frozenset({"ranks"}),
        ),
        Metric(
            name="accepted",
            label="share accepted",
            compute="npbench_metrics.rankings:accepted",
            direction="higher",
            problems=("qvalue",),
            title="share of positives accepted at q-value <= q",
            reference=f"{_GASSO}, sections 4 and 5.6",
            tags=frozenset({"ranks"}),
        ),
        Metric(
            name="n_accepted",
            compute="npbench_metrics.rankings:n_accepted",
            direction="higher",
            problems=("qvalue",),
            title="number of positives accepted at q-value <= q",
            reference=f"{_GASSO}, table V",
            tags=frozenset({"ranks"}),
        ),
        Metric(
            name="n_support",
            compute="npbench_metrics.models:n_support",
            direction="none",
            title="number of support vectors",
        ),
        Metric(
            name="surrogate_p_fa",
            compute="npbench_metrics.models:surrogate_p_fa",
            direction="none",
            title="the model's own surrogate false-alarm rate on its training sample",
            reference=f"{_GASSO}, section 2.2",
        ),
        Metric(
            name="surrogate_p_nd",
            compute="npbench_metrics.models:surrogate_p_nd",
            direction="none",
            title="the model's own surrogate miss rate on its training sample",
            reference=f"{_GASSO}, section 2.2",
        ),
        Metric(
            name="risk_fa",
            compute="npbench_metrics.models:risk_fa",
            direction="lower",
            title="mean of the model's own loss over the negatives",
            reference=f"{_BARLAUD}, equation 10",
        ),
        Metric(
            name="risk_nd",
            compute="npbench_metrics.models:risk_nd",
            direction="lower",
            title="mean of the model's own loss over the positives",
            reference=f"{_BARLAUD}, equation 10",
        ),
    ]
