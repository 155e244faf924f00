"""A client of the sync server in another language, written from SyncProtocol.md and SyncServer.md alone.

    python3 sync_client.py PORT USER CODE CODE

It enrols two devices, lets them edit one zone, and fails where they don't agree.
"""

import hashlib
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

SCHEMA = {
    "version": 1,
    "types": {
        "Tag": {"unique": [{"name": "name", "fields": ["name"]}]},
        "Note": {"fields": {"tag": {"reference": "nullify"}, "image": {"blob": True},
                            "hits": {"merge": "counter"}}},
    },
}


def digest(transactions, bits=0xCBF29CE484222325):
    """FNV-1a over the transactions of a client."""
    for transaction in transactions:
        lines = [str(transaction["number"])]
        for mutation in transaction["mutations"]:
            record = mutation.get("record")
            stamp = record["at"] if record else mutation["stamp"]
            lines.append(" ".join(map(str, [(record or mutation)["id"], *stamp[:3]])))
        for byte in "".join(line + "\n" for line in lines).encode():
            bits = (bits ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{bits:016x}"


class Device:
    """A device with a replica of one zone in memory."""

    def __init__(self, port, user, code, zone):
        self.root, self.zone, self.token = f"http://127.0.0.1:{port}/v1/", zone, None
        status, grant = self.send("POST", "enrol", {"user": user, "code": code, "name": "python"})
        assert status == 200, grant
        self.token, self.device = grant["access_token"], grant["device"]
        self.blobs, self.offset, self.last_moment = {}, 0, (0, -1)
        self.begin()

    def begin(self):
        """Takes a new client identifier and numbers from 1."""
        self.client, self.number, self.acknowledged = uuid.uuid4().hex, 0, 0
        self.outbox, self.sent = [], []
        self.cursor, self.anchor, self.marks, self.records = None, None, [], {}

    # Requests

    def send(self, method, path, body=None):
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data=data, method=method)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        try:
            return status, json.loads(text or b"{}")
        except ValueError:
            return status, text

    # Edits

    def stamp(self):
        """A tick of the hybrid clock."""
        present = (int(time.time() * 1000) + self.offset, 0)
        moment, counter = self.last_moment
        self.last_moment = present if present > self.last_moment else (moment, counter + 1)
        return [*self.last_moment, self.device]

    def commit(self, *edits):
        """Makes a transaction of (op, id, type, fields)."""
        mutations = []
        for op, identity, kind, fields in edits:
            stamp = self.stamp()
            mutation = {"op": op, "id": identity, "type": kind, "stamp": stamp}
            if op == "insert":
                mutation["life"] = f"{self.client}-{stamp[0]}-{stamp[1]}"
            else:
                mutation["lives"] = self.records[identity]["live"]
            if op != "delete":
                mutation["fields"] = fields
            mutations.append(mutation)
        self.number += 1
        self.outbox.append(
            {"number": self.number, "basis": self.acknowledged, "mutations": mutations})
        return mutations[0]["stamp"]

    # Syncing

    def sync(self):
        self.fetch()
        while self.outbox:
            self.push()
            self.fetch()

    def push(self, described=False):
        push = {"v": 1, "client": self.client, "device": self.device, "anchor": self.anchor,
                "schemaVersion": SCHEMA["version"], "transactions": self.outbox}
        if described:
            push["schema"] = SCHEMA
        status, answer = self.send("POST", f"zones/{self.zone}/push", push)
        name = answer["answer"]
        if name == "schemaWanted":
            assert status == 409
            return self.push(described=True)
        if name == "blobsMissing":
            assert status == 409
            for blob in answer["blobs"]:
                path = f"zones/{self.zone}/blobs/{blob}"
                assert self.send("PUT", path, self.blobs[blob])[0] in (201, 204)
            return self.push(described)
        assert name == "taken" and status == 200, answer
        return answer

    def fetch(self):
        begun = [self.cursor, {}]
        while True:
            query = {"client": self.client, "limit": 3, "acknowledged": self.acknowledged}
            if begun[0]:
                query["cursor"] = begun[0]
            elif self.marks:
                query["marks"] = ",".join(self.marks)
            sent = time.time() * 1000
            status, page = self.send(
                "GET", f"zones/{self.zone}/changes?" + urllib.parse.urlencode(query))
            assert status == 200 and page["answer"] == "page", page
            assert page.get("after") == begun[0] and page["client"] == self.client
            self.offset = int(page["now"] - (sent + time.time() * 1000) / 2)
            for record in page["records"]:
                begun[1][record["id"]] = record
                stamps = [record["at"]] + [f[1:] for f in record.get("fields", {}).values() if f[1:]]
                self.last_moment = max(self.last_moment, *((s[0], s[1]) for s in stamps))
            begun[0] = page["cursor"]
            if not page["more"]:
                break
        self.take(page, begun)

    def take(self, page, begun):
        done = [t for t in self.outbox if t["number"] <= page["last"]]
        assert page["digest"] == digest(self.sent + done), "another device has this client"
        self.sent += done
        self.outbox = self.outbox[len(done):]
        self.records.update(begun[1])
        self.cursor, self.acknowledged = begun[0], page["last"]
        self.anchor = self.cursor.split(".", 2)[2]
        self.marks = [self.anchor] + [m for m in self.marks if m != self.anchor][:39]
        self.refused = page.get("refused", [])

    def view(self):
        """The live records: fields by name."""
        return {identity: {name: field[0] for name, field in record.get("fields", {}).items()}
                for identity, record in sorted(self.records.items()) if record.get("live")}


def main(port, user, first_code, second_code):
    assert digest([{"number": 1, "mutations": [
        {"id": "t1", "stamp": [1700000000000, 3, "d1"]}]}]) == "c5101676f7f691ff"
    zone = uuid.uuid4().hex
    one, two = Device(port, user, first_code, zone), Device(port, user, second_code, zone)
    assert one.send("PUT", f"zones/{zone}")[0] == 204
    one.sync()
    one.commit(("insert", "n1", "Note", {"title": "Milk", "text": "1 litre", "hits": {}}))
    one.sync()
    two.sync()
    # Two fields of one record, at once; and one field, of which the later edit wins.
    titles = {
        "two": two.commit(("update", "n1", "Note", {"text": "2 litres", "title": "two"})),
        "one": one.commit(("update", "n1", "Note", {"title": "one", "hits": {one.device: [1, 5]}}))}
    one.sync()
    two.commit(("update", "n1", "Note", {"hits": {two.device: [1, 2]}}))
    two.sync()
    one.sync()
    note = one.view()["n1"]
    assert (note["title"], note["text"]) == (max(titles, key=titles.get), "2 litres"), note
    assert sum(total for _, total in note["hits"].values()) == 7
    # One unique key twice.
    begun = {
        "t1": one.commit(("insert", "t1", "Tag", {"name": "x"})),
        "t2": two.commit(("insert", "t2", "Tag", {"name": "x", "color": "red"}),
                         ("update", "n1", "Note", {"tag": "t2"}))}
    winner, loser = sorted(begun, key=begun.get)
    one.sync()
    two.sync()
    one.sync()
    assert one.view()["n1"]["tag"] == winner and one.view()[winner]["color"] == "red"
    assert one.records[loser]["into"] == winner
    # A delete, a blob, many records in small pages, and one refused transaction.
    image = b"an image"
    name = hashlib.sha256(image).hexdigest()
    two.blobs[name] = image
    two.sync()
    two.commit(("delete", winner, "Tag", None))
    two.commit(("update", "n1", "Note", {"image": {"sha256": name, "size": len(image)}}))
    two.commit(*(("insert", f"many-{i}", "Plain", {"i": i}) for i in range(20)))
    two.commit(("insert", "n1", "Tag", {"name": "another type"}))
    two.sync()
    assert [r["reason"]["name"] for r in two.refused] == ["type"], two.refused
    one.sync()
    assert one.view() == two.view() and one.view()["n1"]["tag"] is None
    assert len(one.view()) == 21 and winner not in one.view()
    assert one.send("GET", f"zones/{zone}/blobs/{name}") == (200, image)
    # A fresh device sees the same.
    one.begin()
    one.sync()
    assert one.view() == two.view()
    # News.
    wait = {"zones": {zone: int(one.cursor.split(".")[0])}, "seconds": 0}
    assert one.send("POST", "wait", wait) == (200, {"zones": []})
    wait["zones"][zone] = 0
    assert one.send("POST", "wait", wait) == (200, {"zones": [zone]})
    print("agreed")


main(*sys.argv[1:])
