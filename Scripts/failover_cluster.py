"""PostgreSQL in threes: namespaces of the network, each with etcd, Patroni and PostgreSQL, and one with haproxy before them.

Each node has two ways to the others. One is for etcd and for Patroni's addresses, the other for PostgreSQL: so replication
may stand still while the cluster's own talk goes on. Whatever is started here runs in one of these namespaces, by which it
is found and ended.
"""

import glob
import json
import os
import pathlib
import subprocess
import threading
import time
import urllib.error
import urllib.request

NODES = ("n1", "n2", "n3")
FRONT = "front"
# The range for benchmarks between networks (RFC 2544), which no other network uses.
CONTROL, DATA = "198.18.0", "198.18.1"
HOST_NUMBER, FRONT_NUMBER = 1, 20
PREFIX = "stead-"
DATABASE = "postgresql://stead@127.0.0.1:5432/stead"
# Seconds that a part may take until it is ready, on a slow machine.
PATIENCE = 180
# Patroni's shortest ones: a leader that is silent for so long is replaced.
LEADER_SECONDS = 20
# PostgreSQL's limit for a replica that doesn't answer. A leader that is cut off waits so long when Patroni stops it, and
# has to be down before its lock is another's.
SENDER_SECONDS = 5
SETTINGS = {
    "ttl": LEADER_SECONDS, "loop_wait": 2, "retry_timeout": 5, "maximum_lag_on_failover": 1 << 30,
    "synchronous_mode": True, "synchronous_mode_strict": True,
    "postgresql": {
        "use_pg_rewind": True, "use_slots": True,
        "parameters": {"max_connections": 100, "wal_keep_size": "512MB", "max_wal_senders": 10,
                       "wal_sender_timeout": f"{SENDER_SECONDS}s", "wal_receiver_timeout": f"{SENDER_SECONDS}s"}},
}
HAPROXY = f"""
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen figures
  mode http
  bind {CONTROL}.{FRONT_NUMBER}:8404
  stats enable
  stats uri /
listen postgres
  bind 127.0.0.1:5432
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
"""


# Set when nothing is worth waiting for.
is_over = threading.Event()


class FailoverError(Exception):
    """A part that isn't ready in time, or whose command failed."""


def command(*words, check=True):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if check and result.returncode != 0:
        raise FailoverError(f"{' '.join(map(str, words))} failed: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout


def until(what, condition, seconds=PATIENCE):
    """Polls until a condition gives something, which is returned."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if is_over.is_set() or time.monotonic() > end:
            raise FailoverError(f"{what}: not so after {seconds} s.")
        time.sleep(0.1)


def fetched(address, body=None, method=None):
    """A status and a JSON value; nothing where nobody answers."""
    request = urllib.request.Request(
        f"http://{address}", json.dumps(body).encode() if body is not None else None, method=method)
    try:
        with urllib.request.urlopen(request, timeout=3) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, {}
    except (OSError, ValueError):
        return None, {}


class Space:
    """A namespace of the network, with an end of each of the two ways."""

    def __init__(self, name, number):
        self.name, self.number = PREFIX + name, number
        self.control, self.data = f"{CONTROL}.{number}", f"{DATA}.{number}"
        self.children = []

    def make(self):
        command("ip", "netns", "add", self.name)
        command("ip", "-n", self.name, "link", "set", "lo", "up")
        for way, address in (("c", self.control), ("d", self.data)):
            inner, outer = f"way-{way}", f"{PREFIX}{self.number}{way}"
            command("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self.name)
            command("ip", "link", "set", outer, "master", f"{PREFIX}{way}", "up")
            command("ip", "-n", self.name, "address", "add", f"{address}/24", "dev", inner)
            command("ip", "-n", self.name, "link", "set", inner, "up")

    def set_ways(self, ways, state):
        """Plugs the other end of ways in or out."""
        for way in ways:
            command("ip", "link", "set", f"{PREFIX}{self.number}{way}", state)

    def start(self, words, log, user=None, environment=None):
        """Starts a program in a session of its own, so that a terminal's Ctrl-C doesn't reach it."""
        drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        with open(log, "ab") as file:
            child = subprocess.Popen(
                ["ip", "netns", "exec", self.name, *drop, *map(str, words)], cwd="/", stdin=subprocess.DEVNULL,
                stdout=file, stderr=file, start_new_session=True, env={**os.environ, **(environment or {})})
        self.children.append(child)
        return child

    def processes(self):
        return [int(word) for word in command("ip", "netns", "pids", self.name, check=False).split()]

    def kill(self, keeps=lambda name: False):
        """Kills what runs here, at once, but for programs that are kept."""
        def rest():
            return [process for process in self.processes() if not keeps(name_of(process))]

        def ended():
            for process in rest():
                try:
                    os.kill(process, 9)
                except ProcessLookupError:
                    pass  # It has ended by itself.
            for child in self.children:
                child.poll()
            return not rest()
        until(f"The programs in {self.name} end", ended)

    def remove(self):
        self.kill()
        for child in self.children:
            child.wait()
        command("ip", "netns", "del", self.name, check=False)
        for way in "cd":
            command("ip", "link", "del", f"{PREFIX}{self.number}{way}", check=False)


def name_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


class Node(Space):
    """A namespace with etcd, Patroni and PostgreSQL."""

    def prepare(self, folder, protocol):
        self.folder = folder / self.name
        self.folder.mkdir(mode=0o700)
        command("chown", "postgres:postgres", self.folder)
        binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.settings = self.folder / "patroni.json"
        # JSON is YAML.
        self.settings.write_text(json.dumps({
            "scope": "stead", "name": self.name,
            "restapi": {"listen": f"{self.control}:8008", "connect_address": f"{self.control}:8008"},
            protocol: {"hosts": [f"{CONTROL}.{number}:2379" for number in node_numbers()]},
            "bootstrap": {"dcs": SETTINGS, "initdb": ["data-checksums", {"encoding": "UTF8"}, {"locale": "C"}]},
            "postgresql": {
                "listen": f"{self.data}:5432", "connect_address": f"{self.data}:5432", "use_unix_socket": True,
                "data_dir": str(self.folder / "data"), "bin_dir": binaries[-1], "pgpass": str(self.folder / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres"}, "replication": {"username": "replicator"},
                    "rewind": {"username": "rewind"}},
                # Nobody but this machine can reach these addresses.
                "pg_hba": ["local all all trust", "host all all 198.18.0.0/15 trust",
                           "host replication all 198.18.0.0/15 trust"],
                "parameters": {"unix_socket_directories": str(self.folder)}},
        }))

    def start_etcd(self):
        members = ",".join(f"{PREFIX}{name}=http://{CONTROL}.{number}:2380" for name, number in zip(NODES, node_numbers()))
        peer, client = f"http://{self.control}:2380", f"http://{self.control}:2379"
        # Elections that neither a busy machine begins nor a member that comes back.
        self.start(
            ["etcd", "--name", self.name, "--data-dir", self.folder / "etcd", "--listen-peer-urls", peer,
             "--initial-advertise-peer-urls", peer, "--listen-client-urls", client, "--advertise-client-urls", client,
             "--initial-cluster", members, "--initial-cluster-state", "new", "--enable-v2", "--pre-vote",
             "--heartbeat-interval", "250", "--election-timeout", "2500"], self.folder / "etcd.log", user="postgres")

    def start_patroni(self):
        self.start(
            ["patroni", self.settings], self.folder / "patroni.log", user="postgres",
            environment={"HOME": str(self.folder), "LC_ALL": "C"})

    def is_primary(self):
        return fetched(f"{self.control}:8008/primary")[0] == 200

    def query(self, sql, database="stead", user="stead"):
        """Rows of one column, asked of this node itself."""
        return command(
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.data, "-U", user, "-d", database,
            "-c", sql).splitlines()


def node_numbers():
    return range(11, 11 + len(NODES))


class Cluster:
    """Three nodes and a place before them, where haproxy leads to the leader."""

    def __init__(self, folder, protocol="etcd"):
        self.folder, self.protocol = folder, protocol
        self.nodes = [Node(name, number) for name, number in zip(NODES, node_numbers())]
        self.front = Space(FRONT, FRONT_NUMBER)

    def check_free(self):
        if PREFIX + FRONT in command("ip", "netns", "list").split():
            raise FailoverError(
                "The namespaces of another run exist. Wait until it ends; what is left of one that was killed goes "
                "with `Scripts/sync-failover --clean`.")

    def make(self):
        for way, network in (("c", CONTROL), ("d", DATA)):
            command("ip", "link", "add", PREFIX + way, "type", "bridge")
            command("ip", "address", "add", f"{network}.{HOST_NUMBER}/24", "dev", PREFIX + way)
            command("ip", "link", "set", PREFIX + way, "up")
        for space in [*self.nodes, self.front]:
            space.make()

    def start(self):
        for node in self.nodes:
            node.prepare(self.folder, self.protocol)
            node.start_etcd()
        until("etcd is healthy", lambda: all(
            fetched(f"{node.control}:2379/health")[1].get("health") == "true" for node in self.nodes))
        for node in self.nodes:
            node.start_patroni()
        self.wait_healthy(is_synchronous=True)
        leader = self.leader()
        leader.query("CREATE ROLE stead LOGIN", "postgres", "postgres")
        leader.query("CREATE DATABASE stead OWNER stead", "postgres", "postgres")
        self.start_haproxy()

    def start_haproxy(self):
        settings = self.folder / "haproxy.cfg"
        settings.write_text(HAPROXY + "".join(
            f"  server {node.name} {node.data}:5432 check addr {node.control} port 8008\n" for node in self.nodes))
        self.front.start(["haproxy", "-db", "-f", settings], self.folder / "haproxy.log")
        # It takes all nodes for leaders until it has asked them.
        until("haproxy leads to one node", lambda: sorted(self.states()) == ["DOWN", "DOWN", "UP"])

    def states(self):
        """What haproxy says of the nodes."""
        try:
            with urllib.request.urlopen(f"http://{self.front.control}:8404/;csv", timeout=3) as answer:
                lines = [line.split(",") for line in answer.read().decode().splitlines()]
        except OSError:
            return []
        place = lines[0].index("status")
        return [line[place] for line in lines if len(line) > place and line[1].startswith(PREFIX)]

    def leader(self, besides=None):
        """The node that says it leads; waits for one."""
        def found():
            return next((node for node in self.nodes if node is not besides and node.is_primary()), None)
        return until("A node leads", found)

    def wait_healthy(self, is_synchronous):
        """Waits until three nodes run on one timeline, one of them as the synchronous replica where there is one."""
        def is_healthy():
            members = next(filter(None, (
                fetched(f"{node.control}:8008/cluster")[1].get("members") for node in self.nodes)), [])
            roles = [member.get("role") for member in members if member.get("state") in ("running", "streaming")]
            wanted = ["leader", "replica", "sync_standby" if is_synchronous else "replica"]
            return sorted(roles) == sorted(wanted) and len({member.get("timeline") for member in members}) == 1
        until("Three nodes run", is_healthy)
        # A replica runs before it streams.
        streaming = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        until("Two replicas stream", lambda: self.asked(streaming) == ["2"])

    def ask_leader(self, sql):
        """Rows of the server's database, as the leader has them; asks again if the node stops leading meanwhile."""
        def rows():
            try:
                return [self.leader().query(sql)]
            except FailoverError as error:
                if "connection" not in str(error):
                    raise
        return until("The leader answers", rows)[0]

    def asked(self, sql):
        """Rows of the leader; nothing while none answers."""
        try:
            return self.leader().query(sql, "postgres", "postgres")
        except FailoverError:
            return None

    def make_asynchronous(self):
        body = {"synchronous_mode": False, "synchronous_mode_strict": False}
        status, _ = fetched(f"{self.leader().control}:8008/config", body, "PATCH")
        if status != 200:
            raise FailoverError(f"Patroni answers {status} to its new settings.")
        until("Replication is asynchronous", lambda: self.asked("SHOW synchronous_standby_names") == [""])
        self.wait_healthy(is_synchronous=False)

    def remove(self):
        for space in [self.front, *self.nodes]:
            space.remove()
        for way in "cd":
            command("ip", "link", "del", PREFIX + way, check=False)
