"""Devices as processes, and their way to a server: for the scripts in which they meet one."""

import asyncio
import hashlib
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
ZONE = "0123456789abcdef0123456789abcdef"
DAY = 86_400_000
# What an exchange of 16,000 edits may take on a slow machine.
PATIENCE = 3_600
# Off Apple's systems a request whose connection breaks may hang until its time is over: Foundation sends it once more, without its body.
REQUEST_TIMEOUT = "5"


def enrol(server, folder, port):
    """Enrols a device of Anna's that reaches a server by another port, and keeps its credentials in a folder."""
    body = json.dumps({"user": "anna", "code": server.invite(), "name": folder.name}).encode()
    with urllib.request.urlopen(f"{server.address}/v1/enrol", body) as answer:
        tokens = json.load(answer)
    folder.mkdir()
    (folder / "account.json").write_text(json.dumps({
        "server": f"http://127.0.0.1:{port}", "user": "anna", "device": tokens["device"],
        "refreshToken": tokens["refresh_token"]}))


class Network:
    """A device's way to the server: a proxy of HTTP/1.1 on a port of its own."""

    FAULTS = {"lose-request": 5, "lose-answer": 5, "delay": 15, "double": 6, "again": 4, "half": 3}

    def __init__(self, server_port, number, seed):
        # From an address of its own, by which the server limits requests for tokens.
        self.server_port, self.address = server_port, f"127.0.1.{number + 1}"
        self.random = random.Random(seed * 1_000 + number)
        self.is_healthy, self.is_cut = False, False
        self.connections, self.tasks, self.counts = set(), set(), {}

    async def start(self):
        self.listener = await asyncio.start_server(self.serve, "127.0.0.1", 0, limit=1 << 26)
        return self.listener.sockets[0].getsockname()[1]

    def cut(self):
        self.is_cut = True
        self.count("cut")
        for writer in list(self.connections):
            writer.transport.abort()

    def heal(self):
        self.is_cut = False

    def count(self, fault):
        self.counts[fault] = self.counts.get(fault, 0) + 1

    @staticmethod
    async def message(reader):
        """A request or an answer with its body; nothing at the end of the connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        return head + (await reader.readexactly(int(length.group(1))) if length else b"")

    async def ask(self, request):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.server_port, limit=1 << 26, local_addr=(self.address, 0))
        try:
            writer.write(request)
            await writer.drain()
            return await self.message(reader)
        finally:
            writer.close()

    async def send_again(self, request):
        """After later requests."""
        await asyncio.sleep(self.random.uniform(0.05, 3))
        try:
            await self.ask(request)
        except (OSError, asyncio.IncompleteReadError):
            pass  # The server has ended.

    def fault(self, request):
        if self.is_healthy:
            return None
        draw = self.random.uniform(0, 100)
        for fault, share in self.FAULTS.items():
            draw -= share
            if draw < 0:
                return fault
        return None

    async def serve(self, reader, writer):
        self.connections.add(writer)
        # The event loop holds tasks weakly.
        self.tasks.add(asyncio.current_task())
        try:
            while not self.is_cut:
                request = await self.message(reader)
                fault = self.fault(request)
                if fault:
                    self.count(fault)
                if fault == "lose-request":
                    break
                if fault == "delay":
                    await asyncio.sleep(self.random.uniform(0, 0.5))
                if fault == "again":
                    task = asyncio.create_task(self.send_again(request))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                answer = await self.ask(request)
                if fault == "double":
                    answer = await self.ask(request)
                if fault == "lose-answer" or self.is_cut:
                    break
                if fault == "half":
                    # Within the body: Foundation ends the program where the head of an answer is cut.
                    head = answer.index(b"\r\n\r\n") + 4
                    writer.write(answer[:(head + len(answer)) // 2])
                    await writer.drain()
                    break
                writer.write(answer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The device or the server has closed the connection, or everything ends.
        finally:
            self.tasks.discard(asyncio.current_task())
            self.connections.discard(writer)
            writer.transport.abort()

    async def part_sometimes(self):
        """Cuts the way now and then, for a moment."""
        while not self.is_healthy:
            await asyncio.sleep(self.random.uniform(1, 8))
            if self.is_healthy:
                return
            self.cut()
            await asyncio.sleep(self.random.uniform(0.1, 2))
            self.heal()


class Device:
    def __init__(self, number, folder, network):
        self.number, self.folder, self.network = number, folder, network

    async def start(self, program, seed, edits):
        ahead = DAY if self.number == 1 else 0
        self.is_old = self.number == 2
        self.process = await asyncio.create_subprocess_exec(
            program, str(self.folder), f"d{self.number}", str(seed * 100 + self.number), str(edits), str(ahead),
            "old" if self.is_old else "new", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)

    async def line(self):
        line = (await self.process.stdout.readline()).decode().rstrip("\n")
        if not line or line.startswith("error"):
            raise SystemExit(f"Device {self.number} has ended: {line or await self.process.wait()}")
        return line

    async def shown(self):
        self.process.stdin.write(b"digest\n")
        return (await self.line()).split(" ", 3)

    async def end(self):
        self.process.stdin.close()
        return await self.process.wait()

    def query(self, sql):
        with sqlite3.connect(self.folder / "shelf.store", timeout=60) as database:
            return database.execute(sql).fetchall()

    def pending(self):
        """How many saves and transactions are to be sent."""
        return self.query(
            "SELECT (SELECT count(*) FROM stead_sync_outbox) + max((SELECT max(number) FROM stead_history)"
            " - (SELECT value FROM stead_sync WHERE key = 'history'), 0)")[0][0] or 0

    def records(self):
        """The live records as the device knows them from the server."""
        return self.query("SELECT id, seq, content FROM stead_sync_base WHERE live ORDER BY id")

    def problems(self):
        return self.query("SELECT 'quarantine', content FROM stead_sync_quarantine"
                          " UNION ALL SELECT 'unshown', reason FROM stead_sync_unshown")


def digest(rows):
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def check(condition, problem):
    if not condition:
        raise SystemExit(problem)


async def ready(server, devices, done):
    """Waits until all devices have sent everything and hold what the server holds; how long that took."""
    start = time.monotonic()
    open_devices = list(devices)
    while open_devices:
        wanted = digest(server.records())
        open_devices = [
            device for device in devices if device.pending() > 0 or digest(device.records()) != wanted]
        seconds = time.monotonic() - start
        for device in devices:
            check(device.process.returncode is None, f"Device {device.number} has ended.")
        if seconds > done:
            for device in open_devices:
                problem = (await device.shown())[3]
                print(f"device {device.number} has {device.pending()} transactions to send: {problem}")
            raise SystemExit(f"After {seconds:.1f} s {len(open_devices)} devices differ from the server.")
        await asyncio.sleep(0.02)
    return seconds


def build(product):
    """Builds a product; the folder of its program."""
    command = ["swift", "build", "--package-path", str(ROOT), "--traits", "Server"]
    subprocess.run([*command, "--product", product], check=True, stdout=sys.stderr)
    return pathlib.Path(subprocess.run(
        [*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
