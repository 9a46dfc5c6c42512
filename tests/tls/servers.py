# SPDX-License-Identifier: Apache-2.0
"""Real TLS servers on loopback, each in a temporary folder of its own with its own configuration and certificate.

    with HAProxy("X25519MLKEM768", "polykem", asynchronous=True) as server:
        ... connect to server.port, trust server.certificate
"""

import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import openssl

PATIENCE = 100
PAGE = "polykem test page"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Server:
    """The base of all servers: starts `command()` after `configure()` and waits until it listens."""

    program = ""
    stdin = subprocess.DEVNULL
    can_pause = False  # supports asynchronous handshakes

    def __init__(self, groups, provider="polykem", asynchronous=False, workers=1, wrapper=(),
                 openssl_prefix=None, variables=None, signature="P-256", **settings):
        """groups: as OpenSSL takes them. provider: see openssl.configuration, which gets `settings` for the server;
        self.client_conf has the same provider without them. workers: threads or processes. wrapper: a command that runs
        the server, e.g. ("taskset", "-c", "0"). openssl_prefix: of the OpenSSL to use. variables: more environment.
        signature: of its certificate, see openssl.certificate."""
        self.groups, self.asynchronous, self.workers = groups, asynchronous, workers
        self._provider, self._settings, self._wrapper = provider, settings, tuple(wrapper)
        self._openssl_prefix, self._variables = openssl_prefix, variables or {}
        self._signature = signature
        self._process = None

    @classmethod
    def path(cls):
        return shutil.which(cls.program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

    def __enter__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="polykem-tls-")
        self.folder = pathlib.Path(self._temporary.name)
        self.folder.chmod(0o755)  # for servers that drop root privileges
        self.key, self.certificate = openssl.certificate(self.folder, self._signature, self._openssl_prefix)
        self.key.chmod(0o644)
        self.pem = self.folder / "both.pem"
        self.pem.write_text(self.key.read_text() + self.certificate.read_text())
        counters = self.folder / "counters"
        counters.mkdir()
        counters.chmod(0o777)
        settings = {"statistics": counters / "of"} if self._provider == "polykem" else {}
        self.openssl_conf = openssl.configuration(self.folder, self._provider, **settings, **self._settings)
        own = self.folder / "client"
        own.mkdir()
        self.client_conf = openssl.configuration(own, self._provider)
        self.port = free_port()
        self.configure()
        self._log = open(self.folder / "log", "wb")
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        self._log.close()
        self._temporary.cleanup()

    def _start(self):
        environment = openssl.environment(self._openssl_prefix, OPENSSL_CONF=self.openssl_conf, **self._variables)
        self._process = subprocess.Popen([*self._wrapper, *map(str, self.command())], stdin=self.stdin,
                                         stdout=self._log, stderr=self._log, env=environment, cwd=self.folder,
                                         start_new_session=True)
        self._wait_until(self.listens, "does not listen")

    def _wait_until(self, condition, otherwise):
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end or not self.runs():
                raise AssertionError(f"{self.program} {otherwise}; it said: {self.log()}")
            time.sleep(0.02)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def stop(self):
        """Ends it and whatever it started."""
        if self._process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(timeout=5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        self._process.poll()

    def runs(self):
        return self._process.poll() is None

    def crashed(self):
        """Returns the signal that killed the server, unless that was `stop`; otherwise None."""
        code = self._process.returncode
        return signal.Signals(-code).name if code in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS) else None

    def configure(self):
        """Writes the configuration into self.folder."""

    def command(self):
        raise NotImplementedError

    def log(self):
        self._log.flush()
        return (self.folder / "log").read_text(errors="replace")

    def processes(self):
        """Returns the ids of the server's process and its descendants."""
        found, new = [], [self._process.pid]
        while new:
            found += new
            new = [child for pid in new for child in children(pid)]
        return found

    def cpu_seconds(self):
        ticks = 0
        for pid in self.processes():
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Returns the bytes of private memory of all its processes."""
        return sum(1024 * private_kilobytes(pid) for pid in self.processes())

    def counters(self, operation="encaps"):
        """Returns polykem's counters of one operation, over all processes and sets. They are at most a second old while
        operations come, and exact when the server has ended in order."""
        total = {}
        for path in (self.folder / "counters").glob("of.*[0-9]"):
            for entry in json.loads(path.read_text())["operations"]:
                if entry.pop("op") == operation:
                    del entry["set"]
                    add_counters(total, entry)
        return total

    def executors(self):
        """Returns polykem's statistics of each device and broker, in each process."""
        return [executor for path in (self.folder / "counters").glob("of.*[0-9]")
                for executor in json.loads(path.read_text())["executors"]]

    def breakers_opened(self):
        """Returns how often polykem gave up a device or a broker for a while."""
        return sum(executor["opened"] for executor in self.executors())

    def descriptors(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.processes())


def add_counters(total, entry):
    for name, value in entry.items():
        if isinstance(value, list):
            value = [a + b for a, b in zip(value, total.get(name, [0] * len(value)))]
            total[name] = value
        else:
            total[name] = total.get(name, 0) + value


def children(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            pass  # a thread that ended just now
    return found


def private_kilobytes(pid):
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Dirty", "Private_Clean")))


def unprivileged_user():
    """Returns the user that Debian's web servers run as, if this is root."""
    try:
        return pwd.getpwnam("www-data").pw_name if os.getuid() == 0 else None
    except KeyError:
        return None


class HAProxy(Server):
    program = "haproxy"
    can_pause = True

    def __init__(self, *arguments, master=False, connections=1024, headroom=2, listeners=1, **options):
        """master: with a master process (-W), which reloads on SIGUSR2. headroom: how many connections' descriptors it
        reserves for each that it accepts; it does not know of polykem's two, and exits if one exceeds its table.
        listeners: sockets that listen; the kernel lets 4096 clients wait at each."""
        super().__init__(*arguments, **options)
        self._master, self._connections, self._headroom = master, connections, headroom
        self._listeners = listeners

    def configure(self):
        bind = f"bind 127.0.0.1:{self.port} ssl crt {self.pem} curves {self.groups} no-tls-tickets ssl-min-ver TLSv1.3"
        binds = "\n  ".join([f"{bind} alpn http/1.1"] * self._listeners)
        (self.folder / "haproxy.cfg").write_text(f"""\
global
  {"ssl-mode-async" if self.asynchronous else ""}
  nbthread {self.workers}
  maxconn {self._headroom * self._connections}
  tune.ssl.cachesize 0
  stats socket {self.folder}/stats mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 5s
  timeout http-request 120s
frontend tls
  maxconn {self._connections}
  backlog 4096
  {binds}
  http-request return status 200 content-type text/plain string "{PAGE}"
""")

    def command(self):
        return [self.path(), "-W" if self._master else "-db", "-f", self.folder / "haproxy.cfg"]

    def listens(self):
        """Returns whether it listens, also on its stats socket, which it opens last."""
        return (self.folder / "stats").exists() and super().listens()

    def finish(self):
        """Ends the server in order, so that its counters are exact; otherwise SIGTERM would end it at once."""
        os.kill(self._process.pid, signal.SIGUSR1)
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.stop()

    def reload(self):
        """Starts new workers; the old ones end with their connections."""
        os.kill(self._process.pid, signal.SIGUSR2)

    def ask(self, command):
        """Sends a command to HAProxy's stats socket. Returns the answer."""
        with socket.socket(socket.AF_UNIX) as stats:
            stats.connect(str(self.folder / "stats"))
            stats.sendall(command.encode() + b"\n")
            return b"".join(iter(lambda: stats.recv(65536), b"")).decode()


class TrafficServer(Server):
    program = "traffic_server"
    can_pause = True

    def configure(self):
        folders = {"exec_prefix": "/usr", "bindir": "/usr/bin", "sbindir": "/usr/sbin", "libexecdir": "modules",
                   "localstatedir": "run", "runtimedir": "run", "logdir": "logs", "cachedir": "cache",
                   "sysconfdir": "etc", "datadir": "data", "prefix": ".", "libdir": "/usr/lib",
                   "includedir": "/usr/include", "mandir": "/usr/share/man", "infodir": "/usr/share/info"}
        lines = []
        for name, folder in folders.items():
            full = (self.folder / folder).resolve()
            full.mkdir(exist_ok=True)
            lines.append(f"{name}: {full}")
        (self.folder / "runroot.yaml").write_text("\n".join(lines) + "\n")
        etc = self.folder / "etc"
        (etc / "records.config").write_text(f"""\
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.http.server_ports STRING {self.port}:ssl:ipv4:ip-in=127.0.0.1
CONFIG proxy.config.exec_thread.autoconfig INT 0
CONFIG proxy.config.exec_thread.limit INT {self.workers}
CONFIG proxy.config.http.cache.http INT 0
CONFIG proxy.config.ssl.TLSv1_3 INT 1
CONFIG proxy.config.ssl.session_cache INT 0
CONFIG proxy.config.ssl.server.session_ticket.enable INT 0
CONFIG proxy.config.ssl.server.groups_list STRING {self.groups}
CONFIG proxy.config.ssl.async.handshake.enabled INT {int(self.asynchronous)}
CONFIG proxy.config.crash_log_helper STRING NULL
CONFIG proxy.config.diags.output.error STRING E
CONFIG proxy.config.diags.output.fatal STRING E
""")
        (etc / "ssl_multicert.config").write_text(
            f"dest_ip=* ssl_cert_name={self.certificate} ssl_key_name={self.key}\n")
        (etc / "ip_allow.yaml").write_text(
            "ip_allow:\n  - {apply: in, ip_addrs: 127.0.0.1, action: allow, methods: ALL}\n")
        (etc / "storage.config").write_text("cache 16M\n")

    def command(self):
        return [self.path(), f"--run-root={self.folder}/runroot.yaml"]


class Apache(Server):
    program = "apache2"

    def configure(self):
        modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so"
                            for name in ("mpm_event", "authz_core", "ssl"))
        user = unprivileged_user()
        (self.folder / "index.html").write_text(PAGE)
        (self.folder / "apache.conf").write_text(f"""\
{modules}
ServerName localhost
ServerRoot {self.folder}
PidFile {self.folder}/pid
DefaultRuntimeDir {self.folder}
{f"User {user}" if user else ""}
{f"Group {user}" if user else ""}
ErrorLog {self.folder}/log
Listen 127.0.0.1:{self.port}
StartServers 1
ServerLimit 1
ThreadsPerChild {max(64, self.workers)}
MaxRequestWorkers {max(64, self.workers)}
DocumentRoot {self.folder}
SSLEngine on
SSLCertificateFile {self.certificate}
SSLCertificateKeyFile {self.key}
SSLSessionTickets off
SSLOpenSSLConfCmd Groups {self.groups}
""")

    def command(self):
        return [self.path(), "-D", "FOREGROUND", "-f", self.folder / "apache.conf"]


class Nginx(Server):
    program = "nginx"

    def configure(self):
        user = unprivileged_user()
        (self.folder / "nginx.conf").write_text(f"""\
daemon off;
{f"user {user};" if user else ""}
worker_processes {self.workers};
pid {self.folder}/pid;
error_log stderr;
events {{ worker_connections 4096; }}
http {{
  log_format group "group $ssl_curve";
  access_log {self.folder}/access group;
  client_body_temp_path {self.folder}/body;
  proxy_temp_path {self.folder}/proxy;
  fastcgi_temp_path {self.folder}/fastcgi;
  uwsgi_temp_path {self.folder}/uwsgi;
  scgi_temp_path {self.folder}/scgi;
  server {{
    listen 127.0.0.1:{self.port} ssl;
    ssl_certificate {self.certificate};
    ssl_certificate_key {self.key};
    ssl_protocols TLSv1.3;
    ssl_session_tickets off;
    ssl_ecdh_curve {self.groups};
    location / {{ return 200 "{PAGE}"; }}
  }}
}}
""")

    def command(self):
        return [self.path(), "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", "stderr"]

    def logged(self, requests):
        """Returns the groups of so many requests, which nginx logs after its answers."""
        log = self.folder / "access"
        self._wait_until(lambda: log.read_text().count("\n") >= requests, f"has not logged {requests} requests")
        return [line.split()[-1] for line in log.read_text().splitlines()]


class SServer(Server):
    """`openssl s_server`: one connection at a time. With -www or -rev it ends a connection that pauses, and without
    them it ends with its standard input."""
    program = "openssl"
    can_pause = True
    stdin = subprocess.PIPE

    def command(self):
        command = [openssl.program(), "s_server", "-accept", f"127.0.0.1:{self.port}", "-cert", self.certificate,
                   "-key", self.key, "-groups", self.groups, "-tls1_3", "-no_ticket"]
        return command + (["-async"] if self.asynchronous else ["-rev"])


ALL = (HAProxy, TrafficServer, Apache, Nginx, SServer)
