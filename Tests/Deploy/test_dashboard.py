"""The queries of deploy/grafana.json."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_dashboard_marks_the_first_ten_minutes_of_a_version_or_a_flow(tmp_path):
    dashboard = json.loads((ROOT / "deploy" / "grafana.json").read_text())
    (annotation,) = dashboard["annotations"]["list"]
    # One server after the other gets the new version. Then both get a new flow.
    series = [
        ("a", "0.1.0", "default@1", "1x29"),
        ("a", "0.2.0", "default@1", "_x30 1x29"),
        ("b", "0.1.0", "default@1", "1x32"),
        ("b", "0.2.0", "default@1", "_x33 1x26"),
        ("a", "0.2.0", "default@2", "_x60 1x30"),
        ("b", "0.2.0", "default@2", "_x60 1x30"),
    ]

    def label(version, flow):
        return f'{{version="{version}", flow="{flow}"}}'

    marked = {
        15: [],
        30: [{"labels": label("0.2.0", "default@1"), "value": 1}],
        39: [{"labels": label("0.2.0", "default@1"), "value": 2}],
        40: [],
        60: [{"labels": label("0.2.0", "default@2"), "value": 2}],
        75: [],
    }
    test = {
        "interval": "1m",
        "input_series": [
            {
                "series": f'accounts_build_info{{instance="{name}", version="{version}", flow="{flow}"}}',
                "values": values,
            }
            for name, version, flow, values in series
        ],
        "promql_expr_test": [
            {"expr": annotation["expr"].replace("$instance", ".*"), "eval_time": f"{minute}m", "exp_samples": samples}
            for minute, samples in marked.items()
        ],
    }
    file = tmp_path / "test.yaml"
    file.write_text(json.dumps({"rule_files": [], "evaluation_interval": "1m", "tests": [test]}))
    promtool = subprocess.run([ROOT / "scripts" / "promtool"], stdout=subprocess.PIPE, check=True, text=True)
    result = subprocess.run(
        [promtool.stdout.strip(), "test", "rules", file], capture_output=True, check=False, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
