"""The manifests in deploy/kubernetes: valid against the schemas of Kubernetes, and consistent with each other."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
# matchLabelKeys and unhealthyPodEvictionPolicy are enabled by default since the first of these versions.
VERSIONS = ["1.27", kubernetes_validate.latest_version()]
COMPONENTS = ["autoscaling", "ingress", "monitoring"]
# Resources of others. Kubernetes has no schema for them, so these have the fields that we use.
CUSTOM = {path.stem: json.loads(path.read_text()) for path in Path(__file__).with_name("schemas").glob("*.json")}


def documents(text):
    return [document for document in yaml.safe_load_all(text) if document]


def resources(path):
    """The resources that a kustomization lists, and those of its components."""
    kustomization = yaml.safe_load((path / "kustomization.yaml").read_text())
    return [document for name in kustomization["resources"] for document in documents((path / name).read_text())]


def everything():
    return resources(FOLDER) + [document for name in COMPONENTS for document in resources(FOLDER / name)]


def resource(kind):
    [found] = [document for document in everything() if document["kind"] == kind]
    return found


def pod(kind):
    return resource(kind)["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_resource_is_valid(version):
    checked = everything() + documents((FOLDER / "secret.example.yaml").read_text())
    assert len(checked) >= 12
    for document in checked:
        validate(document, version)
    assert CUSTOM.keys() == {"PodMonitor", "PrometheusRule"} <= {document["kind"] for document in checked}


def validate(document, version):
    if schema := CUSTOM.get(document["kind"]):
        jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    else:
        kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("PodMonitor", lambda spec: spec.update(joblabel=spec.pop("jobLabel"))),
        ("PodMonitor", lambda spec: spec["selector"].update(labels=spec["selector"].pop("matchLabels"))),
        ("PodMonitor", lambda spec: spec["podMetricsEndpoints"][0].update(port=9090)),
        ("PodMonitor", lambda spec: spec["podMetricsEndpoints"][0].update(interval="30 seconds")),
        ("PrometheusRule", lambda spec: spec["groups"][0].pop("name")),
        ("PrometheusRule", lambda spec: spec["groups"][0]["rules"][0].pop("expr")),
        ("PrometheusRule", lambda spec: spec["groups"][0]["rules"][0].update({"for": 120})),
        ("PrometheusRule", lambda spec: spec["groups"][0]["rules"][0]["labels"].update(severity="high")),
        ("PrometheusRule", lambda spec: spec["groups"][0]["rules"][0]["annotations"].pop("runbook_url")),
    ],
)
def test_a_mistake_in_a_resource_of_others_is_found(kind, change):
    document = resource(kind)
    change(document["spec"])
    with pytest.raises(jsonschema.ValidationError):
        validate(document, VERSIONS[-1])


def test_every_file_is_used():
    listed = {(path.parent / name).resolve() for path in FOLDER.glob("**/kustomization.yaml") for name in names(path)}
    assert {path for path in FOLDER.glob("**/*.yaml")} - listed == {
        *FOLDER.glob("**/kustomization.yaml"),
        FOLDER / "secret.example.yaml",
    }
    comments = re.findall(r"(?m)^#  - (\w+)$", (FOLDER / "kustomization.yaml").read_text())
    assert sorted(comments) == COMPONENTS == sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def names(path):
    return yaml.safe_load(path.read_text())["resources"]


@pytest.mark.skipif(not shutil.which("kubectl"), reason="needs kubectl")
@pytest.mark.parametrize("components", [[], COMPONENTS])
def test_kustomize_builds_valid_resources(components, tmp_path):
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    kustomization["components"] = components
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    built = subprocess.run(["kubectl", "kustomize", tmp_path], check=True, capture_output=True, text=True).stdout
    kinds = set()
    for document in documents(built):
        kinds.add(document["kind"])
        assert document["kind"] == "Namespace" or document["metadata"]["namespace"] == "accounts"
        validate(document, VERSIONS[-1])
        for container in document.get("spec", {}).get("template", {}).get("spec", {}).get("containers", []):
            assert re.fullmatch(r"[a-z./-]+@sha256:[0-9a-f]{64}", container["image"])
        if document["kind"] == "Deployment":
            assert ("replicas" in document["spec"]) == ("autoscaling" not in components)
    optional = {"HorizontalPodAutoscaler", "Ingress", *CUSTOM}
    assert kinds & optional == (optional if components else set())


def test_the_migration_can_be_applied_again():
    job = resource("Job")
    # kubectl --force, Argo CD and Flux replace a Job that exists.
    assert job["metadata"]["annotations"]["argocd.argoproj.io/hook-delete-policy"] == "BeforeHookCreation"
    assert job["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/force"] == "enabled"
    assert job["spec"]["ttlSecondsAfterFinished"] <= 600
    # With OnFailure, Kubernetes deletes the pod of the last attempt, and with it the log that says what failed.
    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    # The documented command selects nothing else, because --force replaces what it cannot change.
    for text in ((FOLDER / "kustomization.yaml").read_text(), (ROOT / "docs" / "scaling.md").read_text()):
        label, value = re.search(r"--force --selector (\S+)=(\S+)", text).groups()
        selected = [document for document in everything() if document["metadata"].get("labels", {}).get(label) == value]
        assert selected == [job]


def test_the_migration_runs_as_the_servers_do():
    server, migration = pod("Deployment"), pod("Job")
    assert migration["securityContext"] == server["securityContext"]
    assert migration["containers"][0]["securityContext"] == server["containers"][0]["securityContext"]
    assert migration["containers"][0]["image"] == server["containers"][0]["image"]


def test_the_probes_ask_where_clients_cannot_be_in_the_way():
    [server] = pod("Deployment")["containers"]
    ports = {port["name"]: port["containerPort"] for port in server["ports"]}
    listen = re.search(r"LISTEN=\S+:(\d+) METRICS_LISTEN=\S+:(\d+)", (ROOT / "Dockerfile").read_text()).groups()
    assert ports == {"http": int(listen[0]), "metrics": int(listen[1])}
    for probe in ("startupProbe", "livenessProbe"):
        assert server[probe]["httpGet"] == {"path": "/health/live", "port": "metrics"}
    assert server["readinessProbe"]["httpGet"] == {"path": "/health/ready", "port": "http"}


def test_prometheus_scrapes_the_servers_under_the_name_that_the_alerts_expect():
    monitor = resource("PodMonitor")
    labels = resource("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"] == labels
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    assert endpoint["port"] in [port["name"] for port in pod("Deployment")["containers"][0]["ports"]]
    job = labels[monitor["spec"]["jobLabel"]]
    assert set(re.findall(r'job="([^"]*)"', (ROOT / "deploy/alerts.yaml").read_text())) == {job}


def test_the_rules_of_the_operator_are_those_of_prometheus():
    path = FOLDER / "monitoring" / "prometheus-rule.yaml"
    command = "\n".join(re.findall(r"(?m)^#   (.*)$", path.read_text()))
    groups = yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text())["groups"]
    assert resource("PrometheusRule")["spec"]["groups"] == groups, f"run in the folder of the repository:\n{command}"
    # The command writes the file, with its comments.
    written = subprocess.run(
        ["bash", "-c", command.replace("mv $rule.new $rule", "cat $rule.new && rm $rule.new")],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert written.stdout == path.read_text()


def test_the_autoscaler_adds_servers_before_a_queue_is_full():
    scaler = resource("HorizontalPodAutoscaler")["spec"]
    target, deployment = scaler["scaleTargetRef"], resource("Deployment")
    assert (target["kind"], target["name"]) == (deployment["kind"], deployment["metadata"]["name"])
    [metric] = scaler["metrics"]
    name = metric["pods"]["metric"]["name"]
    capacity = int(re.search(r"\| `ARGON2_QUEUE` \| [^|]* \| (\d+)", (ROOT / "docs/configuration.md").read_text())[1])
    assert int(metric["pods"]["target"]["averageValue"]) <= capacity / 4
    assert f"`{name}`" in (ROOT / "docs/operating.md").read_text()
    assert f"seriesQuery: {name}{{" in (FOLDER / "autoscaling/kustomization.yaml").read_text()
    # PostgreSQL's default of max_connections is 100, of which 3 are reserved.
    connections = int(re.search(r"DATABASE_CONNECTIONS=(\d+)", (FOLDER / "settings.env").read_text())[1])
    assert (scaler["maxReplicas"] + 1) * connections <= 97


def test_the_ingress_leads_from_the_public_url_to_the_service():
    settings = (FOLDER / "settings.env").read_text()
    host = urlsplit(re.search(r"PUBLIC_URL=(\S+)", settings)[1]).hostname
    ingress, service = resource("Ingress")["spec"], resource("Service")
    assert ingress["tls"][0]["hosts"] == [rule["host"] for rule in ingress["rules"]] == [host]
    backend = ingress["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert backend["name"] == service["metadata"]["name"]
    assert backend["port"]["name"] in [port["name"] for port in service["spec"]["ports"]]
    # It lets a photo through, and repeats nothing.
    annotations = resource("Ingress")["metadata"]["annotations"]
    assert int(annotations["nginx.ingress.kubernetes.io/proxy-body-size"].removesuffix("m")) > 5
    assert annotations["nginx.ingress.kubernetes.io/proxy-next-upstream"] == "off"
