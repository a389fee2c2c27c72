"""scripts/release, with a small executable in place of the service."""

import filecmp
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EPOCH = 1700000000
SERVICE_VERSION = re.search(r'serviceVersion = "(.*)"', (ROOT / "Sources/Accounts/Version.swift").read_text())[1]
SBOM = {"bomFormat": "CycloneDX", "metadata": {"component": {"name": "accounts-api"}}, "components": []}
# Does what a release needs of Swift: builds an executable with the package `direct`, which depends on `transitive`.
SWIFT = """#!/bin/sh
set -e
answers=$(dirname "$0")
echo "$@" >>"$answers/calls"
case $1 in
build | package) [ -e Package.resolved ] || echo '{"pins": ["the newest"]}' >Package.resolved ;;
esac
case $1 in
build)
    objects=$PWD/.build/release/Main.build
    mkdir -p .build/release/accounts-api.product "$objects"
    cp /bin/sh .build/release/accounts-api
    for name in direct transitive; do
        mkdir -p ".build/checkouts/$name"
        echo "$PWD/.build/checkouts/$name/main.swift" >>"$objects/sources"
    done
    echo "'$objects/main.swift.o'" >.build/release/accounts-api.product/Objects.LinkFileList
    echo "$COMMIT" >"$answers/commit"
    ;;
package) if [ "$2" = show-dependencies ]; then cat "$answers/dependencies.json"; fi ;;
-print-target-info) cat "$answers/target.json" ;;
--version) echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)' ;;
esac
"""
# "Builds" an image of the commit and the versions.
IMAGE = """#!/bin/sh
set -e
case $1 in
'') mkdir -p .run && echo "$COMMIT" | cat - Package.resolved >.run/image ;;
--save) cp .run/image "$2" ;;
esac
"""


def run(*command, cwd=ROOT, **environment):
    return subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def committed(name):
    return run("git", "show", f"HEAD:{name}")


def collected(folder, executable):
    """A folder as `scripts/image-root swift` makes it."""
    contents = folder / "usr/share/doc/accounts-api"
    (contents / "licences/swift").mkdir(parents=True)
    (contents / "licences/swift/LICENSE.txt").write_text("A licence.\n")
    (contents / "sbom.json").write_text(json.dumps(SBOM))
    (contents / "Package.resolved").write_text('{"pins": []}')
    (folder / "usr/local/bin").mkdir(parents=True)
    shutil.copy(executable, folder / "usr/local/bin/accounts-api")
    return folder


def packed(folder, root, **environment):
    run("scripts/release", folder, root, SOURCE_DATE_EPOCH=str(EPOCH), **environment)
    return named(folder)


def dependency(name, *dependencies):
    return {
        "identity": name,
        "url": f"https://example.com/{name}.git",
        "version": "1.0.0",
        "path": f"/checkouts/{name}",
        "dependencies": dependencies,
    }


@pytest.fixture
def swift(tmp_path):
    """A folder with a `swift` that builds in no time, and writes its arguments into `calls`."""
    folder = tmp_path / "swift"
    for name in ("lib/swift", "share/swift"):
        (folder / name).mkdir(parents=True)
    (folder / "share/swift/LICENSE.txt").write_text("A licence.\n")
    (folder / "swift").write_text(SWIFT)
    (folder / "swift").chmod(0o755)
    packages = [dependency("direct", dependency("transitive")), dependency("unused")]
    (folder / "dependencies.json").write_text(json.dumps({"identity": "accounts-api", "dependencies": packages}))
    (folder / "target.json").write_text(json.dumps({"paths": {"runtimeResourcePath": str(folder / "lib/swift")}}))
    return folder


@pytest.fixture
def repository(tmp_path):
    """A clone that installs no packages."""
    folder = tmp_path / "repository"
    run("git", "clone", "--quiet", "--no-tags", ROOT, folder)
    replace(folder / "scripts/dependencies", "#!/bin/sh\n")
    return folder


def replace(path, text):
    """Replaces a file of a clone, in a commit."""
    path.write_text(text)
    author = ("-c", "user.name=Kim", "-c", "user.email=kim@example.com")
    run("git", *author, "commit", "--quiet", "--all", "--message", f"Replace {path.name}", cwd=path.parent)


def built(folder, repository, swift, *flags, **environment):
    path = f"{swift}:{os.environ['PATH']}"
    run("scripts/release", *flags, folder, cwd=repository, PATH=path, **environment)
    return named(folder)


def named(folder):
    return {path.suffix or path.name: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    return packed(folder / "out", collected(folder / "root", "/bin/sh"))


def test_two_releases_have_the_same_bytes(release, tmp_path):
    root = collected(tmp_path / "root", "/bin/sh")
    # Another person has made the files at another time, in another order.
    for path in sorted(root.rglob("*"), reverse=True):
        path.chmod(path.stat().st_mode & 0o700)
        os.utime(path, (1, 1))
    again = packed(tmp_path / "out", root, TZ="Asia/Seoul", LC_ALL="C.UTF-8", TMPDIR=str(tmp_path))
    assert again.keys() == release.keys() == {".gz", ".deb", ".json", ".resolved", "SHA256SUMS"}
    for name, path in release.items():
        assert again[name].name == path.name
        assert filecmp.cmp(path, again[name], shallow=False), f"{path.name} differs"


def test_the_checksums_are_those_of_the_files(release):
    listed = release["SHA256SUMS"].read_text().splitlines()
    assert sorted(line.split()[1] for line in listed) == sorted(
        path.name for name, path in release.items() if name != "SHA256SUMS"
    )
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=release[".gz"].parent, check=True)


def test_the_files_have_the_names_of_the_document(release):
    document = (ROOT / "docs/operating.md").read_text()
    section = document.partition("\n### The executable of a machine\n")[2].partition("\n### ")[0]
    listed = re.findall(r"(?m)^\| `([^`]+)` \|", section)
    version, system, architecture = re.fullmatch(
        r"accounts-api_(.+)-([^-_]+)_([^-_]+)\.deb", release[".deb"].name
    ).groups()
    names = {"VERSION": version, "SYSTEM": system, "ARCHITECTURE": architecture}
    *others, image, sums = [re.sub("|".join(names), lambda name: names[name[0]], name) for name in listed]
    assert [*others, sums] == [release[key].name for key in (".gz", ".deb", ".json", ".resolved", "SHA256SUMS")]
    assert image == release[".gz"].name.replace(".tar.gz", ".image.tar.gz")


def test_the_tarball_has_the_executable_the_units_and_the_documents(release):
    with gzip.open(release[".gz"]) as stream, tarfile.open(fileobj=io.BytesIO(stream.read())) as tar:
        members = {member.name.partition("/")[2]: member for member in tar}
        assert list(members) == sorted(members)
        for member in members.values():
            assert (member.mtime, member.uid, member.gid, member.mode & 0o022) == (EPOCH, 0, 0, 0)

        def read(name):
            return tar.extractfile(members[name]).read()

        assert read("accounts-api") == Path("/bin/sh").read_bytes()
        assert members["accounts-api"].mode & 0o111
        folders = {"deploy/systemd/accounts-api.service", "docs/operating.md", "sql/migrations/0001-signups.sql"}
        for name in folders | {"LICENSE", "scripts/argon2"}:
            assert read(name).decode() == committed(name)
        assert read("sbom.json") == release[".json"].read_bytes()
        assert read("Package.resolved") == release[".resolved"].read_bytes()
        packages = read("packages.txt").decode().split()
    assert {"ca-certificates", "libc6", "tzdata"} <= set(packages)
    assert packages == sorted(packages)


def test_every_link_of_the_documents_leads_to_a_file(release, tmp_path):
    run("tar", "--extract", "--directory", tmp_path, "--file", release[".gz"])
    run("dpkg-deb", "--extract", release[".deb"], tmp_path / "package")
    tarball = tmp_path / release[".gz"].name.removesuffix(".tar.gz")
    # The command `doctor` advises to run this script.
    assert os.access(tmp_path / "package/usr/share/doc/accounts-api/scripts/argon2", os.X_OK)
    for folder in (tarball, tmp_path / "package/usr/share/doc/accounts-api"):
        links = [(path, link) for path in folder.rglob("*.md") for link in relative_links(path.read_text())]
        assert len(links) > 100
        assert [f"{path}: {link}" for path, link in links if not (path.parent / link).exists()] == []


def relative_links(text):
    """The links of a document in Markdown to other files, without their fragments."""
    text = re.sub(r"(?ms)^ *```.*?^ *```|`[^`\n]*`", "", text)
    return [link for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text) if not re.match("[a-z]+:", link)]


def test_the_package_has_its_libraries_and_units_that_find_the_executable(release, tmp_path):
    fields = dict(
        line.split(": ", 1) for line in run("dpkg-deb", "--field", release[".deb"]).splitlines() if ": " in line
    )
    version = json.loads(release[".json"].read_text())["metadata"]["component"]["version"]
    assert re.split("[~+]", version)[0] == SERVICE_VERSION
    assert fields["Package"] == "accounts-api"
    assert fields["Version"].startswith(f"{version}-")
    assert "libc6 (>= " in fields["Depends"]

    run("dpkg-deb", "--raw-extract", release[".deb"], tmp_path)
    subprocess.run(["md5sum", "--check", "--strict", "--quiet", "DEBIAN/md5sums"], cwd=tmp_path, check=True)
    assert run(tmp_path / "usr/bin/accounts-api", "-c", "echo runs") == "runs\n"
    assert (tmp_path / "etc/accounts-api").stat().st_mode & 0o777 == 0o700
    for name in ("accounts-api.service", "accounts-api-migrate.service"):
        unit = (tmp_path / "lib/systemd/system" / name).read_text()
        assert "ExecStart=/usr/bin/accounts-api " in unit
        assert unit == committed(f"deploy/systemd/{name}").replace("/usr/local/", "/usr/")
    assert "/usr/bin/accounts-api " in (tmp_path / "usr/sbin/accounts-api-command").read_text()
    # It neither starts nor enables the service.
    assert "systemctl daemon-reload" in (tmp_path / "DEBIAN/postinst").read_text()
    assert "start" not in (tmp_path / "DEBIAN/postinst").read_text()


def test_the_version_is_that_of_the_tag_and_comes_between_its_earlier_and_later_commits(repository, swift, tmp_path):
    root = collected(tmp_path / "root", "/bin/sh")

    def version(folder):
        run("scripts/release", tmp_path / folder, root, cwd=repository)
        sbom = next((tmp_path / folder).glob("*.sbom.json"))
        return json.loads(sbom.read_text())["metadata"]["component"]["version"]

    def of_package(folder):
        return run("dpkg-deb", "--field", next((tmp_path / folder).glob("*.deb")), "Version").strip()

    before = version("before")
    commit = run("git", "rev-parse", "--short=12", "HEAD", cwd=repository).strip()
    assert re.fullmatch(rf"{re.escape(SERVICE_VERSION)}~\d{{8}}\.{commit}", before)
    run("git", "tag", f"v{SERVICE_VERSION}", cwd=repository)
    assert version("tagged") == SERVICE_VERSION
    tagged = of_package("tagged")

    replace(repository / "README.md", "Another text.\n")
    replace(repository / "README.md", "A third text.\n")
    after = version("after")
    commit = run("git", "rev-parse", "--short=12", "HEAD", cwd=repository).strip()
    assert after == f"{SERVICE_VERSION}+git2.{commit}"
    # `accounts-api --version` says the same.
    built(tmp_path / "built", repository, swift)
    assert (swift / "commit").read_text().strip() == f"git2.{commit}"

    system = tagged.removeprefix(f"{SERVICE_VERSION}-")
    for other in (system, "debian12", "ubuntu24.04"):
        versions = [of_package(folder).replace(system, other) for folder in ("before", "tagged", "after")]
        assert versions[1] == f"{SERVICE_VERSION}-{other}"
        for earlier, later in pairwise(versions):
            run("dpkg", "--compare-versions", earlier, "lt", later)

    run("git", "tag", "--delete", f"v{SERVICE_VERSION}", cwd=repository)
    run("git", "tag", "v99.0.0", cwd=repository)
    with pytest.raises(subprocess.CalledProcessError) as refused:
        version("other")
    assert (
        f"the tag is v99.0.0, but the version in Sources/Accounts/Version.swift is {SERVICE_VERSION}"
        in refused.value.stderr
    )


def test_a_build_takes_the_given_versions_and_lists_every_package_that_it_links(repository, swift, tmp_path):
    given = tmp_path / "given.json"
    given.write_text('{"pins": ["those of an earlier release"]}')
    # Relative paths begin in the folder of the caller.
    path = f"{swift}:{os.environ['PATH']}"
    run(repository / "scripts/release", "first", cwd=tmp_path, PATH=path, RESOLVED=given.name)
    first = named(tmp_path / "first")
    assert first[".resolved"].read_bytes() == given.read_bytes()
    sbom = json.loads(first[".json"].read_text())
    assert [component["name"] for component in sbom["components"]] == ["swift", "direct", "transitive"]
    assert sbom["components"][2]["version"] == "1.0.0"

    (repository / "Package.resolved").unlink()
    newest = built(tmp_path / "newest", repository, swift)[".resolved"]
    assert "the newest" in newest.read_text()
    builds = [call for call in (swift / "calls").read_text().splitlines() if call.startswith("build ")]
    assert ["--only-use-versions-from-resolved-file" in build for build in builds] == [True, False]
    # Without these, two builds of a commit differ.
    commit = run("git", "rev-parse", "HEAD", cwd=repository).strip()
    for build in builds:
        assert "-disable-incremental-llvm-codegen" in build
    assert f"--build-id=0x{commit}" in builds[0]

    with pytest.raises(subprocess.CalledProcessError) as refused:
        run("scripts/release", tmp_path / "out", tmp_path, cwd=repository, RESOLVED=str(given))
    assert "RESOLVED is for a build" in refused.value.stderr


def test_the_image_has_the_commit_and_the_versions_of_the_release(repository, swift, tmp_path):
    replace(repository / "scripts/image", IMAGE)
    commit = run("git", "rev-parse", "--short=12", "HEAD", cwd=repository).strip()
    built(tmp_path / "out", repository, swift, "--image")
    [image] = (tmp_path / "out").glob("*.image.tar.gz")
    [resolved] = (tmp_path / "out").glob("*.Package.resolved")
    assert image.name.removesuffix(".image.tar.gz") == resolved.name.removesuffix(".Package.resolved")
    assert gzip.decompress(image.read_bytes()).decode() == f"{commit}\n{resolved.read_text()}"
    assert f"  {image.name}\n" in (tmp_path / "out/SHA256SUMS").read_text()
    run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS", cwd=tmp_path / "out")

    # A refusal, such as that of a user who is not root, comes before the build.
    replace(repository / "scripts/image", "#!/bin/sh\necho 'must run as root' >&2\nexit 1\n")
    (swift / "calls").unlink()
    with pytest.raises(subprocess.CalledProcessError) as refused:
        built(tmp_path / "other", repository, swift, "--image")
    assert refused.value.stderr == "must run as root\n"
    assert "build " not in (swift / "calls").read_text()
    assert not any((tmp_path / "other").iterdir())


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a compiler")
def test_a_library_that_no_package_has_is_refused(tmp_path):
    (tmp_path / "library.c").write_text("int answer(void) { return 42; }")
    (tmp_path / "program.c").write_text("int answer(void); int main(void) { return answer(); }")
    library = tmp_path / "libanswer.so"
    run("cc", "-shared", "-fPIC", "-o", library, tmp_path / "library.c")
    run("cc", f"-Wl,-rpath,{tmp_path}", "-o", tmp_path / "program", tmp_path / "program.c", library)
    root = collected(tmp_path / "root", tmp_path / "program")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        packed(tmp_path / "out", root)
    assert failure.value.stderr.endswith(f"{library} belongs to no package: build with --static-swift-stdlib\n")
    assert not any((tmp_path / "out").iterdir())
