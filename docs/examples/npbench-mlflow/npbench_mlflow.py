import json
import math

from npbench import hookimpl


@hookimpl
def npbench_run_started(run):
    import mlflow

    mlflow.set_experiment("npbench")


@hookimpl
def npbench_job_finished(record):
    import mlflow

    with mlflow.start_run(run_name=f"{record['solver']} on {record['dataset']}, repeat {record['repeat']}"):
        mlflow.set_tags({name: record[name] for name in ("run_id", "key", "solver", "dataset", "problem", "status")})
        mlflow.log_params({**json.loads(record["params"]), **json.loads(record.get("chosen_params", "{}"))})
        metrics = {name: value for name, value in record.items() if isinstance(value, float) and math.isfinite(value)}
        mlflow.log_metrics(metrics)
