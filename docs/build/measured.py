"""Tables of stored measurements: benchmarks, detectors, sweeps, and iterates of a fit."""

import json
import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl
from blocks import PUBLISHED, fenced, published, table

from npbench.numerics.binomial_limits import rate_limits
from npbench.report.select.labels import method_labels
from npbench.report.sheet import estimate, interval, spread
from npbench.report.stats.paired import MIN_VALUES, hodges_lehmann, kept, mean_limits, shift_interval, wilcoxon
from npbench.values import counted
from npbench_benchmark.crossing import OF_THRESHOLD, crossing
from npbench_benchmark.leaderboard import misses_at_rho, settings
from npbench_benchmark.promises import SIZES, Promise, expected

SEARCHED = (
    *("np_svm", "np_svm_ranked", "ac_svm", "ac_svm_ranked", "uzawa", "two_nu_svm", "gen", "gradient_boosting_early"),
    *("random_forest", "ensemble", "logistic_regression_ranked", "sgd", "svm_perf"),
)
ITERATES = PUBLISHED / "ijcnn1_iterates.parquet"
SHOWN_BOUNDS = (0.05, 0.01)
IN_HINDSIGHT = "the member that is best on both, in hindsight"
Row = Mapping[str, Any]


def _stored(name: str) -> Any:
    return json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))


def _rows(of: str | Sequence[Row], **equal: Any) -> list[Row]:
    """Return the rows, of a JSON file if ``of`` is its name, in which some columns have the given values."""
    found = _stored(of) if isinstance(of, str) else of
    rows = found["rows"] if isinstance(found, dict) else found
    return [row for row in rows if all(row[column] == value for column, value in equal.items())]


def _cell(form: str, row: Row, missing: str = "-") -> str:
    """Return a row's values in a format string, or ``missing`` if a number is None."""
    try:
        return form.format_map(row).replace("|", "\\|")
    except TypeError:  # None has no format
        return missing


def listed(of: str | Sequence[Row], head: str, line: str, **equal: Any) -> str:
    """Return a line for each of some rows, by a format string for each column of the head."""
    return table(head.split(" | "), ([_cell(form, row) for form in line.split(" | ")] for row in _rows(of, **equal)))


def crossed(
    of: str | Sequence[Row], line: str, column: str, cell: str, *, title: str, missing: str = "-", **equal: Any
) -> str:
    """Return a table with a cell for each of some rows, by format strings for its line, its column and itself."""
    lines: dict[str, dict[str, str]] = {}
    for row in _rows(of, **equal):
        lines.setdefault(_cell(line, row), {})[_cell(column, row)] = _cell(cell, row, missing)
    heads = list(dict.fromkeys(head for cells in lines.values() for head in cells))
    rows = ((name, *(cells.get(head, missing) for head in heads)) for name, cells in lines.items())
    return table((title, *heads), rows)


def _machine(name: str) -> str:
    found = _stored(f"speed/{name}")
    return f"\nMeasured {found['when']} at commit {found['commit']}, {found['cpu']}, Python {found['python']}.\n"


def where(of: str | Sequence[Row]) -> str:
    """Return when, at which commit and on which processors rows were measured, as a sentence.

    Files from before rows had a commit give the one that stored them, and no processor.
    """
    rows = sorted(_rows(of), key=lambda row: row["when"])
    days, commits, cpus = (list(dict.fromkeys(row[name] for row in rows)) for name in ("when", "commit", "cpu"))
    between = " to ".join(dict.fromkeys((days[0], days[-1])))
    machines = " and ".join(cpu or "a processor that was not recorded" for cpu in cpus)
    return f"\nMeasured {between} at commit {', '.join(commits)}, on {machines}.\n"


def guardrails() -> str:
    """Return alarms and detections of prompt-injection detectors, the best first."""
    head = "detector | tied at the top | empirical > 1 % | umbrella > 1 % | attacks detected | WildChat alarms"
    line = (
        "{detector} | {tied:.1%} | {empirical_exceeds:.0%} | {umbrella_exceeds:.0%} | {detected:.3f} | {wildchat:.2%}"
    )
    rows = ({**row, "tied": row["tied_at_top"] if row["tied_at_top"] > 0.001 else None} for row in _rows("guardrails"))
    return listed(sorted(rows, key=lambda row: -row["detected"]), head, line)


def ensemble_splits() -> str:
    """Return misses by promise and model, with differences from the forest that holds out half, over data sets."""
    promise = pl.when(pl.col("params").str.contains('"cv"')).then(pl.lit("measured")).otherwise(pl.lit("guaranteed"))
    found = published("ensemble_benchmark").with_columns(promise=promise, model="`" + pl.col("method") + "`")
    return _beside_the_forest(found.rename({"dataset": "table"}), "sets")


def ensemble_since() -> str:
    """Return how the misses of a later version of the ensemble differ from those in the benchmark, on its splits."""
    later, split = published("ensemble_benchmark"), ["dataset", "repeat", "split_sha256", "problem_params", "params"]
    both = later.filter(method="ensemble").join(published("np_benchmark"), on=split, suffix=" before")
    of_sets = both.group_by(method_labels(both), "rho", "dataset").agg(change=pl.mean("p_nd") - pl.mean("p_nd before"))
    found: dict[str, list[str]] = {}
    for (label, rho), one in of_sets.sort("label", -pl.col("rho")).group_by("label", "rho", maintain_order=True):
        changes = one["change"].to_list()
        changed = estimate(statistics.fmean(changes), mean_limits(changes), "+.3f")
        found.setdefault(f"`{label}`", []).append(f"{changed} at {rho}")
    clauses = "; ".join(f"of {method} by {', '.join(changes)}" for method, changes in found.items())
    return f"\nOn the splits of {both['dataset'].n_unique()} data sets, this changes the misses {clauses}.\n"


def other_tables() -> str:
    """Return :func:`ensemble_splits` over the tables that the benchmark does not use."""
    return _beside_the_forest(_other_tables().filter(pl.col("promise") != "exactly rho"), "tables")


def _other_tables() -> pl.DataFrame:
    return pl.read_parquet(PUBLISHED / "other_tables.parquet")


def _beside_the_forest(found: pl.DataFrame, what: str) -> str:
    """Return mean misses by promise and model, and how they differ from those of the forest that holds out half."""
    mean = found.group_by("rho", "promise", "model", "table").agg(pl.mean("p_nd"))
    is_forest = pl.col("model").str.contains("random.forest") & (pl.col("promise") == "guaranteed")
    forest = mean.filter(is_forest).select("rho", "table", forest="p_nd")
    order = pl.col("promise").replace_strict({"guaranteed": 0, "on average": 1, "measured": 2})
    is_ensemble = pl.col("model").str.contains("ensemble")
    beside = mean.join(forest, on=["rho", "table"]).sort(order, is_ensemble, -pl.col("rho"))
    rows: list[Row] = []
    for (rho, kind, model), one in beside.group_by("rho", "promise", "model", maintain_order=True):
        change = (one["p_nd"] - one["forest"]).round(9).to_numpy()  # equal means are ties
        cell = f"{statistics.fmean(one['p_nd']):.3f}"
        if (p := wilcoxon(change)) is not None:
            cell += f", {change.mean():+.3f}, {(change < 0).sum()}/{(change > 0).sum()}, {p:.1g}"
        rows.append({"rho": rho, "model": f"{kind}: {model}", "n": len(one), "cell": cell})
    return crossed(rows, "{model}", f"rho = {{rho}}, {{n}} {what}", "{cell}", title="promise, model")


def other_tables_above() -> str:
    """Return how many test parts of the other tables are above the bound, and how many may be."""
    rows = []
    held_out = {("guaranteed", "random forest"): 0.5, ("guaranteed", "ensemble"): "aligned"}
    held_out |= {("measured", "random forest"): 1.0, ("measured", "ensemble"): 1.0}
    for (kind, model), size in held_out.items():
        promise = Promise(kind, "umbrella", 0.05, size)
        for one in _other_tables().filter(promise=kind, model=model).partition_by("rho", maintain_order=True):
            rho, above = one["rho"][0], int((one["p_fa"] > one["rho"]).sum())
            allowed, _ = expected(promise, one.select("rho", *SIZES).to_dicts())
            verdict = kept(above / len(one), rate_limits(above, len(one))[0], allowed)
            cell = f"{above} of {len(one)}, {allowed:.1%} allowed: {verdict}"
            counts = {"above": above, "expected": allowed * len(one)}
            rows.append({"rho": rho, "model": f"{kind}: {model}", "cell": cell, **counts})
    return crossed(rows, "{model}", "rho = {rho}", "{cell}", title="promise, model") + _together(rows)


def _together(rows: Sequence[Row]) -> str:
    """Return how often the measured ensemble is above its bounds, on test parts and by its true rates."""
    on_parts = [row for row in rows if row["model"] == "measured: ensemble"]
    above, expected_above = (sum(row[name] for row in on_parts) for name in ("above", "expected"))
    by_rates = _rows("measured", model="NPEnsemble")
    above_rates, draws = (sum(row[name] for row in by_rates) for name in ("above", "draws"))
    of_draws = f"{above_rates} of {draws} [draws from four data sets](all-negatives.md#what-is-proved)"
    return (
        f"\nOver all bounds, the measured ensemble is above on {above} test parts, where {expected_above:.0f} are"
        f"\nallowed. Its true rate is above in {of_draws},\nwhere {0.05 * draws:.0f} are.\n"
    )


def other_scorers() -> str:
    """Return how much more members and other weights miss than the ensemble, at P_fa of exactly rho on test parts."""
    found = _other_tables().filter(promise="exactly rho").select("rho", "table", "split", "model", "p_nd")
    key = ["rho", "table", "split"]
    members = found.filter(~pl.col("model").is_in(["ensemble", "equal weights", "greedy"]))
    best = members.sort("p_nd", "model").group_by("rho", "table", "split", maintain_order=True).first()
    chosen = best.with_columns(split=1 - pl.col("split")).drop("p_nd").join(members, on=[*key, "model"])
    mean = members.group_by("rho", "table", "model").agg(pl.mean("p_nd")).sort("p_nd", "model")
    best_of_both = mean.group_by("rho", "table", maintain_order=True).first().drop("p_nd")
    of_hindsight = best_of_both.join(members, on=["rho", "table", "model"])
    rules = [
        found.filter(pl.col("model").is_in(["equal weights", "greedy"])),
        members,
        chosen.with_columns(model=pl.lit("the member that is best on the other split")),
        of_hindsight.with_columns(model=pl.lit(IN_HINDSIGHT)),
    ]
    every = pl.concat([one.select(found.columns) for one in rules])
    ensemble = found.filter(model="ensemble").drop("model").rename({"p_nd": "ensemble"})
    change = 100 * (pl.col("p_nd") - pl.col("ensemble"))
    of_tables = every.join(ensemble, on=key).group_by("rho", "model", "table", maintain_order=True)
    of_table = of_tables.agg(change=change.mean())
    error = pl.std("change") / pl.len().sqrt()
    cells = of_table.group_by("rho", "model", maintain_order=True).agg(pl.mean("change"), error=error)
    line, worst = "{change:+.1f} ({error:.1f})", -of_table.filter(pl.col("model") == IN_HINDSIGHT)["change"]
    shown = crossed(cells.to_dicts(), "{model}", "rho = {rho}", line, title="in place of the ensemble")
    many = f"{(worst > 3).sum()} of {len(worst)} tables and bounds"
    hindsight = f"In hindsight a member is more than 3 points better on {many},\nat most {max(worst):.1f} points."
    return f"{shown}\n{hindsight} Which one also depends on luck with two splits.\n"


def ensemble_above() -> str:
    """Return how many test parts of these data sets are above the bound, by promise and model, and how many may be."""
    rows = [
        {"rho": setting.value, "promise": league.promise, "model": one.label.split()[0], "one": one}
        for setting in settings(published("ensemble_benchmark"))
        for league in setting.leagues
        for one in league.methods
    ]
    cell = "{one.above} of {one.n_jobs}, {one.allowed:.1%} allowed: {one.verdict}"
    return crossed(rows, "{promise}: `{model}`", "rho = {rho}", cell, title="promise, model")


def empty_jobs() -> str:
    """Return what jobs without work cost in one worker."""
    columns = {
        "jobs in one worker": "{jobs:,}",
        "time per job": "{ms:.1f} ms",
        "CPU time of the parent": "{parent_ms:.1f} ms",
        "its memory before the first merge": "{parent_mb:.0f} MB",
        "and the last": "{parent_mb_end:.0f} MB",
        "bytes of a record": "{single_bytes:,}",
        "if merged": "{merged_bytes:.0f}",
    }
    return where("scale") + listed("scale", " | ".join(columns), " | ".join(columns.values()), what="run")


def scale() -> str:
    """Return seconds, memory and files of commands with many jobs."""
    titles = {
        "plan repeats": "`npbench plan`, repeats of one request",
        "plan combinations": "`npbench plan -m`, 1000 repeats of each combination",
        "again": "the same command, all done: reads records, prints table",
        "plan again": "`npbench plan`, all done",
    }
    rows = [{**row, "what": titles[row["what"]]} for row in _rows("scale") if row["what"] in titles]
    files = [{**row, "what": "files at the end, and their size"} for row in _rows("scale", what="again")]
    costs = crossed(rows, "{what}", "{jobs:,}", "{seconds:.1f} s, {mb:,.0f} MB", title="jobs")
    sizes = crossed(files, "{what}", "{jobs:,}", "{files:,}, {size_mb:,.1f} MB", title="jobs")
    return where("scale") + costs + _of_a_combination() + sizes


def _of_a_combination() -> str:
    """Return what a combination costs a plan, from plans of one and of a thousand."""
    few, *_, many = sorted(_rows("scale", what="plan combinations"), key=lambda row: row["jobs"])
    added = (many["jobs"] - few["jobs"]) / 1000  # each has a thousand repeats
    ms, kb = (1e3 * (many[name] - few[name]) / added for name in ("seconds", "mb"))
    return f"\nBy the second line, a combination takes {ms:.1f} ms and {kb:.0f} kB.\n"


def kernel_peers() -> str:
    """Return seconds and misses of fits by method and number of rows."""
    cell = "{seconds:.1f} s, {misses:.3f}"
    return where("kernel_peers") + crossed("kernel_peers", "{method}", "{n:,} rows", cell, title="method")


def landmark_choice() -> str:
    """Return mean misses over seeds by data set, number of landmarks and way to choose them."""
    by = pl.DataFrame(_rows("landmark_choice")).group_by("data", "landmarks", "choice", maintain_order=True)
    rows = by.agg(pl.mean("misses") * 100.0).sort("landmarks", maintain_order=True).to_dicts()
    title = "data, landmarks"
    return where("landmark_choice") + crossed(rows, "{data}, {landmarks}", "{choice}", "{misses:.2f}", title=title)


def searches() -> str:
    """Return median CPU seconds of search and fit over bounds and thresholds, by method and data set."""
    found = published("np_benchmark").filter(pl.col("dataset").is_in(["pima", "keel_penbased", "magic"]))
    every = pl.concat([found, published("np_benchmark_drawn")], how="diagonal_relaxed")
    every = every.filter(pl.col("method").is_in(SEARCHED)).with_columns(
        seconds=pl.col("select_cpu_seconds") + pl.col("fit_cpu_seconds"),
        when=pl.col("run_started").str.slice(0, 10),
        commit=pl.col("git_commit").str.slice(0, 8),
        n=pl.col("n_samples") // 2,  # the other half tests
    )
    ended = pl.col("status").eq("ok").sum().alias("ended")
    cells = every.group_by("method", "dataset", "n").agg(pl.median("seconds"), pl.first("status"), pl.len(), ended)
    rows = sorted(cells.sort("n").to_dicts(), key=lambda row: SEARCHED.index(row["method"]))
    without = {"timeout": "time limit", "failed": "refused"}
    for row in rows:
        some = f" ({row['ended']} of {row['len']})" if row["ended"] < row["len"] else ""
        row["cell"] = f"{row['seconds']:.3g}{some}" if row["ended"] else without[row["status"]]
    about = where(every.select("when", "commit", "cpu").unique().sort(pl.all()).to_dicts())
    return about + crossed(rows, "`{method}`", "`{dataset}`, {n:,}", "{cell}", title="method")


def many_rows() -> str:
    """Return misses and false alarms on the two sets of more than 10^5 rows: methods that answer on both at a bound."""
    found = published("np_benchmark_drawn").filter(
        pl.col("status") == "ok", pl.col("rho").is_in(SHOWN_BOUNDS), ~pl.col("params").str.contains("empirical")
    )
    found = found.filter((pl.len().over("method", "rho") == 2).any().over("method"))
    found = found.sort(-pl.col("rho"), pl.mean("p_nd").over("method"), "method", "n_samples")
    cell = "{p_nd:.4f} at {p_fa:.4f}"
    return crossed(found.to_dicts(), "`{method}`", "`{dataset}`, rho={rho}", cell, title="method")


def behind(*methods: str) -> str:
    """Return the fewest misses of all scores where the false-alarm rate is rho, and how many more others miss."""
    found = published("np_benchmark_drawn").filter(~pl.col("params").str.contains("empirical"))
    rows = []
    for jobs in found.sort("n_samples", -pl.col("rho")).partition_by("dataset", "rho"):
        misses = jobs.select("method", misses=misses_at_rho(jobs)).sort("misses", "method", nulls_last=True)
        best, least = misses.row(0)
        points = dict(misses.select("method", 100 * (pl.col("misses") - least)).iter_rows())
        rows.append({**jobs.row(0, named=True), "least": least, "best": best, **points})
    head = ["data", "rho", "fewest misses", *(f"`{one}`" for one in methods)]
    line = ["`{dataset}`", "{rho}", "{least:.4f}, `{best}`", *(f"{{{one}:.1f}}" for one in methods)]
    return listed(rows, " | ".join(head), " | ".join(line))


def without_answer() -> str:
    """Return a line for each method that ends without an answer on a large set, and at which bounds."""
    ended = published("np_benchmark_drawn").filter(pl.col("status") != "ok").sort("method", "n_samples", -pl.col("rho"))
    words = {"timeout": "reaches the time limit", "failed": "refuses"}
    of_sets = ended.group_by("method", "dataset", "status", maintain_order=True).agg("rho")
    bounds = pl.col("rho").cast(pl.List(pl.String)).list.unique(maintain_order=True)
    alike = of_sets.with_columns(at=bounds.list.join(", "))
    lines = []
    for (method,), rows in alike.group_by("method", maintain_order=True):
        same = rows.group_by("status", "at", maintain_order=True).agg(pl.format("`{}`", "dataset").str.join(" and "))
        where = pl.format("on {} at {}", "dataset", "at").str.join(" and ")
        ends = same.group_by("status", maintain_order=True).agg(where)
        lines.append(f"- `{method}` {'; '.join(f'{words[status]} {text}' for status, text in ends.rows())}.")
    return "\n".join(["", *lines, ""])


def on_same_splits(*names: str) -> pl.DataFrame:
    """Return the published records of several benchmarks on the splits that all of them have."""
    frames = [published(name) for name in names]
    for other in frames:
        frames = [one.join(other, on=["dataset", "problem_params", "repeat"], how="semi") for one in frames]
    return pl.concat(frames)


def of_scorers(results: pl.DataFrame, scorers: Collection[str]) -> pl.DataFrame:
    """Return the results of some scorers, under every threshold."""
    return results.filter(pl.Series([OF_THRESHOLD.sub("", label) in scorers for label in results["label"]]))


def packages(ours: str = "ensemble") -> str:
    """Return how far a scorer of ours is from the boosting package that comes closest, at the same thresholds."""
    stored = on_same_splits("np_benchmark", "np_benchmark_packages")
    names = {OF_THRESHOLD.sub("", method) for method in published("np_benchmark_packages")["method"].unique()} | {ours}
    found: dict[str, list[str]] = {}
    for setting in settings(stored):
        if setting.results["dataset"].n_unique() < MIN_VALUES:
            continue
        first, *others = next(crossing(setting.text, of_scorers(setting.results, names))).cells
        ahead = {row[0].text: row[-1] for row in others}
        # ours against the first, or the closest against ours
        known = [(effect.value, scorer) for scorer, effect in ahead.items() if effect.value is not None]
        name = ours if ours in ahead else min(known)[1]
        word = f"{', the closest,' * (name != ours)} misses more than"
        if ahead[name].numbers["low"] <= 0:
            word = " cannot be told from"
        found.setdefault(f"`{name}`{word} `{first[0]}` at", []).append(f"{setting.value} ({ahead[name]})")
    clauses = "; ".join(f"{clause} {', '.join(differences)}" for clause, differences in found.items())
    return f"Boosting packages ({splits(stored)} of each data set): at the same thresholds, {clauses}."


def splits(records: pl.DataFrame) -> str:
    """Return how many splits data sets have, as in 1 to 5 splits."""
    each = records.group_by("dataset").agg(pl.n_unique("repeat"))["repeat"].to_list()
    least = "" if min(each) == max(each) else f"{min(each)} to "
    return f"{least}{counted(max(each), 'split')}"


def native() -> str:
    """Return what boosting misses with words and missing values as they are, and coded, by bound, and a conclusion."""
    found = pl.DataFrame(_stored("native")).group_by("rho", "data").agg(pl.mean("native", "coded")).sort("rho", "data")
    rows = []
    for (rho,), one in found.sort(-pl.col("rho"), maintain_order=True).group_by("rho", maintain_order=True):
        change = (one["native"] - one["coded"]).round(9).to_numpy()  # equal means are ties
        if (limits := shift_interval(change)) is None:  # too few data sets
            continue
        row = {"rho": rho, "n": len(one), "fewer": sum(change < 0), "more": sum(change > 0)}
        means = {name: statistics.fmean(one[name]) for name in ("native", "coded")}
        row["is_seen"] = limits[0] > 0 or limits[1] < 0
        rows.append({**row, **means, "change": f"{hodges_lehmann(change):+.3f} {interval(limits, '+.3f')}"})
    head = "rho | data sets | as they are | coded | difference | fewer on | more on"
    table = listed(rows, head, "{rho} | {n} | {native:.3f} | {coded:.3f} | {change} | {fewer} | {more}")
    seen = ", ".join(str(row["rho"]) for row in rows if row["is_seen"])
    return f"{table}\n{f'A difference is seen at {seen}.' if seen else 'No difference is seen at any bound.'}\n"


def million() -> str:
    """Return what a fit to 10^6 rows takes, and what it misses."""
    head = "method | CPU seconds | memory, data included | misses | status"
    line = "`{solver}` | {cpu_seconds:.1f} | {peak_mb:,} MB | {misses_at_rho:.3f} | {status}"
    return where("many_rows") + listed("many_rows", head, line)


def large_files() -> str:
    """Return what commands take for large files of scores."""
    cell = "{cpu_seconds:.1f} CPU s, {mb:,.0f} MB"
    table = crossed("large_files", "{rows:,}", "`npbench {what}`", cell, title="scores in Parquet")
    return where("large_files") + table


def halving() -> str:
    """Return how far choices of searches in rungs are from those of whole searches, in standard errors of a loss."""
    worse = ((pl.col("halved") - pl.col("whole")) / pl.col("error")).fill_nan(0.0)  # both have no error
    solvers = pl.DataFrame(_rows("halving")).group_by("solver", maintain_order=True)
    counts = {"sets": pl.len(), "equal": (worse <= 0).sum(), "within": (worse <= 1).sum()}
    seconds = pl.col("seconds", "halved_seconds").sum()
    rows = solvers.agg(seconds, mean=worse.mean(), most=worse.max(), **counts).to_dicts()
    head = (
        "solver | tables | same loss | at most one standard error more | mean | largest | CPU seconds whole, in rungs"
    )
    line = "{solver} | {sets} | {equal} | {within} | {mean:.2f} | {most:.2f} | {seconds:.0f}, {halved_seconds:.0f}"
    return where("halving") + listed(rows, head, line)


def iterates() -> str:
    """Return the partial AUC of single iterates, and of those at which a fit stops."""
    found = pl.read_parquet(ITERATES)
    one = found.filter(pl.col("iteration").is_in([2, 3, 5, 10, 20, 30, 40]), split=0, C=0.1)
    costs = found["C"].unique().sort()
    stops = {slack: at_slack(found, slack) for slack in (0.1, 0.01, 0.001, 0.0001)}
    rows = (
        (f"{slack:g}", *(_of_splits(stopped.filter(C=C)["pauc"].to_list(), found["split"].n_unique()) for C in costs))
        for slack, stopped in stops.items()
    )
    course = table(("iteration, C = 0.1", *map(str, one["iteration"])), [("pauc", *(f"{x:.3f}" for x in one["pauc"]))])
    return course + table(("stopped at slack", *(f"C = {C:g}" for C in costs)), rows)


def at_slack(iterates: pl.DataFrame, slack: float) -> pl.DataFrame:
    """Return the first iterate with at most that slack for each split and C that has one."""
    reached = iterates.filter(pl.col("slack") <= slack).sort("split", "C", "iteration")
    return reached.group_by("split", "C", maintain_order=True).first()


def _of_splits(values: list[float], n: int) -> str:
    """Return mean and standard deviation, and of how many splits if not of all."""
    return f"{spread(values)}{'' if len(values) == n else f' ({len(values)} of {n})'}" if values else "-"


def ratios() -> str:
    """Return the comparisons with other software, one row for each task and peer, medians below 1 in bold."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in _rows("speed/ratios"):
        task = re.sub(r", \d+ iterations against \d+$", "", row["what"]).replace("|", "\\|")
        groups.setdefault((task, row["peer"]), []).append(row["ratio"])
    rows = (
        (*key, str(len(values)), *map(_ratio, (statistics.median(values), min(values), max(values))))
        for key, values in groups.items()
    )
    return _machine("ratios") + table(("task", "peer", "sizes", "theirs / ours, median", "lowest", "highest"), rows)


def leave_one_out() -> str:
    """Return how many fits leave-one-out costs, from its ratio to as many separate fits as samples."""
    rows = _rows("speed/ratios", what="2nu-SVM, leave-one-out")
    fits = sorted(int(row["peer"].split()[0]) / row["ratio"] for row in rows)
    sizes = " and ".join(f"`{row['size']}`" for row in rows)
    return f"\nLeave-one-out over all samples costs {fits[0]:.1f} to {fits[-1]:.1f} fits ({sizes}).\n"


def _ratio(value: float) -> str:
    text = f"{value:.2g}" if value < 100 else f"{value:.0f}"
    return text if value >= 1 else f"**{text}**"


def race() -> str:
    """Return the seconds to within 1 % of the optimal partial AUC objective."""
    rows = [
        {**row, "raced": row["raced"] + ", proved" * row["proved"], "between": f"up to {row['fpr_range'][1]:g}"}
        for row in sorted(_rows("speed/pauc_race"), key=lambda row: (row["correlation"], row["fpr_range"]))
    ]
    problem, seconds = "{between}, correlation {correlation:g}", "{objective:.2g}"
    return _machine("pauc_race") + crossed(rows, "{raced}", problem, seconds, title="method", missing="not reached")


def selections() -> str:
    """Return the seconds of selections beside liquidSVM's."""
    rows = [{**row, "what": row["what"].partition(",")[0]} for row in _rows("speed/selections")]
    shown = listed(rows, "data set | search | seconds | liquidSVM", "{size} | `{what}` | {ours:.2g} | {theirs:.2g}")
    return _machine("selections") + shown


def asv_output(name: str) -> str:
    """Return the stored output of ``asv continuous`` on a branch as a fenced block."""
    text = (PUBLISHED / "speed" / f"{name}.txt").read_text(encoding="utf-8")
    return fenced("text", re.sub(r" +$", "", text, flags=re.MULTILINE))
