"""Prints hashes of one password by the tools of other systems, as `name<TAB>hash` lines.

Made the lines of HashesOfOtherTools in the tests. Needs django, passlib, argon2-cffi, bcrypt and Werkzeug from PyPI, and
the commands htpasswd (apache2-utils), mkpasswd (whois), php and openssl.
"""

import subprocess
from importlib.metadata import version

import argon2
import bcrypt
import django
import passlib.hash
from django.conf import settings
from django.contrib.auth.hashers import make_password
from werkzeug.security import generate_password_hash

PASSWORD = "a ⟨pass phrase⟩ of mine, 여보세요"
DJANGO = ["PBKDF2", "Argon2", "BCryptSHA256", "BCrypt", "Scrypt"]


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.strip()


def show(name, hashed):
    print(f"{name}\t{hashed}")


settings.configure(PASSWORD_HASHERS=[f"django.contrib.auth.hashers.{name}PasswordHasher" for name in DJANGO])
django.setup()
for algorithm in ["pbkdf2_sha256", "argon2", "bcrypt_sha256", "bcrypt", "scrypt"]:
    show(f"Django {django.__version__} {algorithm}", make_password(PASSWORD, hasher=algorithm))

for name in ["pbkdf2_sha256", "pbkdf2_sha512", "sha256_crypt", "sha512_crypt", "md5_crypt"]:
    show(f"passlib {passlib.__version__} {name}", getattr(passlib.hash, name).hash(PASSWORD))
show(f"passlib {passlib.__version__} scrypt", passlib.hash.scrypt.using(rounds=14).hash(PASSWORD))

for method in ["pbkdf2:sha256", "scrypt"]:
    show(f"Werkzeug {version('werkzeug')} {method}", generate_password_hash(PASSWORD, method=method))

for variant in argon2.Type:
    show(f"argon2-cffi {version('argon2-cffi')} {variant.name}", argon2.PasswordHasher(type=variant).hash(PASSWORD))
show(f"bcrypt {bcrypt.__version__}", bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode())

show("htpasswd -B", output("htpasswd", "-nbBC", "10", "kim", PASSWORD).split(":", 1)[1])
for algorithm in ["PASSWORD_BCRYPT", "PASSWORD_ARGON2I", "PASSWORD_ARGON2ID"]:
    program = f"echo password_hash(stream_get_contents(STDIN), {algorithm});"
    show(f"PHP {algorithm}", output("php", "-r", program, input=PASSWORD))
for method in ["yescrypt", "sha512crypt", "sha256crypt", "bcrypt"]:
    show(f"shadow file, mkpasswd {method}", output("mkpasswd", "-m", method, "--stdin", input=PASSWORD))
show("shadow file, openssl passwd -6", output("openssl", "passwd", "-6", "-stdin", input=PASSWORD))
