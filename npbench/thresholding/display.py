"""NP-ROC bands as a picture, in the style of scikit-learn's displays."""

import contextlib
from typing import Any, Self

from npbench.data.labels import classes
from npbench.numerics.np_roc import NPROC, np_roc
from npbench.thresholding.threshold import complement, require_rate, scored


class NPRocDisplay:
    """The share of positives that the umbrella rule detects, by its bound on false alarms, with confidence limits.

    Make it with :meth:`from_estimator` or :meth:`from_scores`.

    Parameters
    ----------
    curve : NPROC
        NP-ROC bands.
    name : str, optional
        Label of the curve.

    Attributes
    ----------
    ax_, figure_, line_, band_, point_
        Axes, figure, curve and limits, as objects of Matplotlib; the point is the threshold that keeps ``rho``, if that
        is marked and the negatives suffice for it.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> scores, y = np.r_[random.normal(size=500), random.normal(2, size=100)], np.repeat([0, 1], [500, 100])
    >>> display = NPRocDisplay.from_scores(scores, y, rho=0.05, name="detector")
    >>> display.ax_.get_xscale()
    'log'
    """

    def __init__(self, *, curve: NPROC, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        rho: float | None = None,
        delta: float = 0.05,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the bands of a fitted classifier on samples that it has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted classifier.
        X : array, sparse matrix or frame of length n_samples
            Held-out samples.
        y : array of shape (n_samples,)
            Labels of both classes.
        rho : float, optional
            Bound to mark with a line, and the threshold that keeps it; by default the classifier's ``rho``, if any.
        delta : float, default=0.05
            Probability that a limit fails, in ]0, 1[.
        pos_label : int, float, bool or str, optional
            Label of the positives; by default the classifier's ``pos_label_``, or 1 for labels in {0, 1} or {-1, 1}.
        name : str, optional
            Label of the curve; the name of the class by default.
        ax : matplotlib Axes, optional
            Axes to draw on; new ones by default.
        """
        label = classes(y, getattr(estimator, "pos_label_", None) if pos_label is None else pos_label)[1].positive
        from npbench.thresholding.classifier import scores_of  # scikit-learn, which a column of scores does not need

        scores = scores_of(estimator, X, label)
        named = type(estimator).__name__ if name is None else name
        rho = getattr(estimator, "rho", None) if rho is None else rho
        return cls.from_scores(scores, y, rho=rho, delta=delta, pos_label=label, name=named, ax=ax)

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        y: Any,
        *,
        rho: float | None = None,
        delta: float = 0.05,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the bands of scores of samples that the model has not seen.

        Parameters
        ----------
        scores : array of shape (n_samples,)
            Scores, larger for more positive samples.
        y, rho, delta, pos_label, name, ax
            As in :meth:`from_estimator`; no name by default.
        """
        scores, positive = scored(scores, y, pos_label)
        return cls(curve=np_roc(scores[~positive], scores[positive], delta), name=name).plot(ax, rho=rho)

    def plot(self, ax: Any = None, *, rho: float | None = None, name: str | None = None, **line: Any) -> Self:
        """Plot the bands; parameters as in :meth:`from_estimator`, and properties of the curve for ``Axes.plot``."""
        if rho is not None:
            require_rate("rho", rho)
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        # the curve, with its limits as a band
        bands = self.curve.bands()
        style = {"label": self.name if name is None else name, "drawstyle": "steps-post", **line}
        (self.line_,) = ax.plot(bands.p_fa_high, 1 - bands.p_nd, **style)
        low, high = 1 - bands.p_nd_high, 1 - bands.p_nd_low
        colour = self.line_.get_color()
        self.band_ = ax.fill_between(bands.p_fa_high, low, high, step="post", alpha=0.2, color=colour)
        if rho is not None:
            ax.axvline(rho, color="grey", linestyle="--", linewidth=1)
            with contextlib.suppress(ValueError):  # too few negatives for this bound
                chosen = self.curve.at(rho)
                (self.point_,) = ax.plot(rho, 1 - chosen.p_nd, "o", color=colour)
                place = {"xytext": (7, -12), "textcoords": "offset points"}
                ax.annotate(f"score > {chosen.threshold:.3g}", (rho, 1 - chosen.p_nd), color=colour, **place)
        ax.set(xscale="log", ylim=(0, 1.01), ylabel="share of positives detected")
        ax.set_xlabel(f"bound on false alarms ρ, kept with probability {complement(self.curve.delta)}")
        if style["label"]:
            ax.legend(loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
