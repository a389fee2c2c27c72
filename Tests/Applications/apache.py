"""Apache with mod_auth_openidc, an OpenID client that is certified by the OpenID Foundation."""

MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "headers", "auth_openidc"]

# Response headers with the data about the person that mod_auth_openidc has given to Apache.
SHOWN = """
Header always set X-User "expr=%{REMOTE_USER}"
Header always set X-Email "%{OIDC_CLAIM_email}e"
Header always set X-Username "%{OIDC_CLAIM_preferred_username}e"
Header always set X-Created "%{OIDC_CLAIM_account_created}e"
"""


class Apache:
    """The server of the wiki in docs/openid.md."""

    def __init__(self, url, folder, documented):
        self.url = url
        self.folder = folder
        self.documented = documented
        self.configuration = folder / "apache.conf"

    def configure(self, issuer, secret):
        """Writes the documented configuration with these URLs and this secret."""
        pages = self.folder / "pages"
        pages.mkdir(parents=True)
        self.folder.chmod(0o711)
        (self.folder / "wiki-secret.conf").write_text(f"OIDCClientSecret {secret}\n")
        for name in ["index", "sign-up", "signed-out"]:
            (pages / name).write_text(name)
        lines = [f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES]
        lines += [
            f"Listen {self.url.removeprefix('http://')}",
            f"ServerName {self.url}",
            # If the tests run as root, Apache changes to this user.
            "User www-data",
            "Group www-data",
            f"PidFile {self.folder}/pid",
            f"DefaultRuntimeDir {self.folder}",
            f"ErrorLog {self.folder}/log",
            f"DocumentRoot {pages}",
        ]
        documented = (
            self.documented.replace("https://accounts.example", issuer)
            .replace("https://wiki.example", self.url)
            .replace("/etc/apache2", str(self.folder))
        )
        self.configuration.write_text("\n".join(lines) + "\n" + documented + SHOWN)
