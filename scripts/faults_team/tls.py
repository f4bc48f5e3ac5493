"""Connections to the database over TLS: only the right certificate of the right host is accepted."""

import os
import shutil
import subprocess

from .cluster import OWNER
from .nodes import Failed


def run(team):
    with team.cluster() as cluster:
        make_certificates(team.folder)
        serve_tls(cluster, team.folder)
        program = team.program(cluster.url("acme"))
        right, wrong = team.folder / "ca.pem", team.folder / "other-ca.pem"
        results = []
        for name, host, parameters, expected in cases(cluster.port, right, wrong):
            url = cluster.url("acme", host=host, **parameters)
            done = program.run("admin", "space", "list", url=url, codes=None)
            reason = done.stderr.strip()
            if expected is None:
                # The database is empty, which only a connection that was accepted can find out.
                team.require(done.returncode in (0, 1) or "schema 0" in reason, f"{name}: {reason}")
            else:
                team.require(done.returncode in (2, 3) and expected in reason, f"{name}: exit {done.returncode}: {reason}")
            results.append(name)
        encrypted = cluster.sql("SELECT count(*) FROM pg_stat_ssl WHERE ssl", database="postgres")
        return f"{len(results)} cases: {'; '.join(results)} (connections over TLS now: {encrypted})"


def cases(port, right, wrong):
    here, named = f"127.0.0.1:{port}", f"localhost:{port}"
    full = {"sslmode": "verify-full", "sslrootcert": right}
    return [
        ("the right authority and host are accepted", named, full, None),
        ("a wrong authority is refused", named, {**full, "sslrootcert": wrong}, "certificate"),
        ("a wrong host name is refused", here, full, "certificate"),
        ("without sslrootcert only public authorities count", named, {"sslmode": "verify-full"}, "certificate"),
        ("a missing sslrootcert is refused", named, {**full, "sslrootcert": "/nonexistent.pem"}, "cannot read"),
        *[(f"sslmode={mode} to another machine is refused", "192.0.2.1:5432", {"sslmode": mode}, "verified certificate")
          for mode in ("disable", "allow", "prefer", "require", "verify-ca")],
    ]


def make_certificates(folder):
    """Two authorities, and a certificate of the first one for localhost."""
    for name in ("ca", "other-ca"):
        openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem",
                "-addext", "basicConstraints=critical,CA:TRUE")
    (folder / "server.ext").write_text("subjectAltName=DNS:localhost\n")
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
            "-keyout", "server.key", "-out", "server.csr")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "server.ext", "-out", "server.pem")


def openssl(folder, *arguments):
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"openssl {arguments[0]}: {done.stderr}")


def serve_tls(cluster, folder):
    """Only TLS connections are accepted on the network."""
    for name in ("server.pem", "server.key"):
        shutil.copy(folder / name, cluster.data / name)
        (cluster.data / name).chmod(0o600)
        if os.geteuid() == 0:
            os.chown(cluster.data / name, OWNER, OWNER)
    rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\nhostssl all all ::1/128 trust\n"
    (cluster.data / "pg_hba.conf").write_text(rules)
    cluster.stop()
    cluster.options.update({"ssl": "on", "ssl_cert_file": "server.pem", "ssl_key_file": "server.key"})
    cluster.start()
