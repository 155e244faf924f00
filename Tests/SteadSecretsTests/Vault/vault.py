#!/usr/bin/env python3
"""Opens and makes vaults by Documentation/VaultFile.md alone, with the package `cryptography`.

    vault.py open FILE KIND KEY        prints what is in the vault, as JSON
    vault.py make FILE SPEC            makes a vault of what SPEC, a JSON file, says

KIND is a slot's kind as a number, KEY the key's bytes in hexadecimal. A SPEC gives everything that a
program would draw at random, so that the same SPEC makes the same file.
"""

import hashlib
import json
import struct
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

MAGIC, VERSION, NONCE, TAG = b"SteadVlt", 1, bytes(12), 16
FIXED = struct.Struct("<8sII16sQQQ32sII")
SLOT = struct.Struct("<IIII16sQ32s32s48s")
ITEM = struct.Struct("<32sQQIHHHH")


def require(condition, what):
    if not condition:
        sys.exit(f"not a vault: {what}")


def rounded(length, step):
    return (length + step - 1) // step * step


def seal(key, message, additional):
    return AESGCM(key).encrypt(NONCE, message, additional)


def unseal(key, message, additional):
    return AESGCM(key).decrypt(NONCE, message, additional)


def expand(root, purpose, salt):
    info = b"stead vault 1 " + purpose + salt
    return HKDFExpand(SHA256(), 32, info).derive(root)


def slot_keys(kind, cost, salt, key):
    if kind == 1:
        log_n, r, p = cost
        made = Scrypt(salt=salt, length=64, n=1 << log_n, r=r, p=p).derive(key)
    else:
        made = HKDF(SHA256(), 64, salt, b"stead vault 1 slot").derive(key)
    return made[:32], made[32:]


def value_data(vault_id, service, account):
    return (vault_id + struct.pack("<H", len(service)) + service
            + struct.pack("<H", len(account)) + account)


def open_vault(file, kind, key):
    fields = FIXED.unpack_from(file)
    magic, version, zero, vault_id, generation, index_length, values_length = fields[:7]
    write_salt, slot_count, other_zero = fields[7:]
    require(magic == MAGIC and version == VERSION and zero == other_zero == 0, "its beginning")
    size = FIXED.size + slot_count * SLOT.size + 32
    require(1 <= slot_count <= 16, "number of slots")
    require(size + index_length + values_length == len(file), "its length")
    require(hashlib.sha256(file[:size - 32]).digest() == file[size - 32:size], "digest of the header")
    root = None
    for number in range(slot_count):
        place = FIXED.size + number * SLOT.size
        found, log_n, r, p, _, _, salt, check, sealed = SLOT.unpack_from(file, place)
        if found != kind:
            continue
        wrapping, expected = slot_keys(kind, (log_n, r, p), salt, key)
        if check == expected:
            root = unseal(wrapping, sealed, file[:32] + file[place:place + 104])
            break
    require(root is not None, "no slot for this key")
    values = file[size + index_length:]
    index = unseal(expand(root, b"index", write_salt), file[size:size + index_length], file[:size])
    require(index[:32] == hashlib.sha256(values).digest(), "digest of the values")
    return {"id": vault_id.hex(), "generation": generation, "slots": slot_count,
            "items": read_items(index, values, vault_id, root)}


def read_items(index, values, vault_id, root):
    count, = struct.unpack_from("<I", index, 32)
    place, start, items, names = 36, 0, [], []

    def take(length):
        nonlocal place
        place += length
        return index[place - length:place]

    for _ in range(count):
        salt, created, modified, length, *lengths = ITEM.unpack(take(ITEM.size))
        service, account, label = (take(size) for size in lengths[:3])
        attributes = {}
        for _ in range(lengths[3]):
            name_length, value_length = struct.unpack("<HH", take(4))
            name = take(name_length).decode()
            attributes[name] = take(value_length).decode()
        end = start + max(rounded(length, 64), 64) + TAG
        padded = unseal(expand(root, b"value", salt), values[start:end],
                        value_data(vault_id, service, account))
        require(not any(padded[length:]), "zeros behind a secret")
        start = end
        names.append((service, account))
        items.append({"service": service.decode(), "account": account.decode(),
                      "label": label.decode(), "attributes": attributes, "created": created,
                      "modified": modified, "secret": padded[:length].hex()})
    require(names == sorted(set(names)), "order of the items")
    require(start == len(values) and len(index) == rounded(place, 256), "lengths in the index")
    require(not any(index[place:]), "zeros behind the index")
    return items


def make_vault(spec):
    vault_id, root = bytes.fromhex(spec["id"]), bytes.fromhex(spec["root"])
    write_salt = bytes.fromhex(spec["writeSalt"])
    index, values = b"", b""
    for item in sorted(spec["items"], key=lambda i: (i["service"].encode(), i["account"].encode())):
        texts = [item[name].encode() for name in ("service", "account", "label")]
        secret, salt = bytes.fromhex(item["secret"]), bytes.fromhex(item["salt"])
        index += ITEM.pack(salt, item["created"], item["modified"], len(secret),
                           *map(len, texts), len(item["attributes"])) + b"".join(texts)
        for name, value in sorted((n.encode(), v.encode()) for n, v in item["attributes"].items()):
            index += struct.pack("<HH", len(name), len(value)) + name + value
        padded = secret.ljust(max(rounded(len(secret), 64), 64), b"\0")
        values += seal(expand(root, b"value", salt), padded, value_data(vault_id, *texts[:2]))
    index = hashlib.sha256(values).digest() + struct.pack("<I", len(spec["items"])) + index
    index = index.ljust(rounded(len(index), 256), b"\0")
    header = FIXED.pack(MAGIC, VERSION, 0, vault_id, spec["generation"], len(index) + TAG,
                        len(values), write_salt, len(spec["slots"]), 0)
    for slot in spec["slots"]:
        salt, cost = bytes.fromhex(slot["salt"]), slot.get("cost", [0, 0, 0])
        wrapping, check = slot_keys(slot["kind"], cost, salt, bytes.fromhex(slot["key"]))
        fields = SLOT.pack(slot["kind"], *cost, bytes.fromhex(slot["id"]), slot["created"], salt,
                           check, bytes(48))[:104]
        header += fields + seal(wrapping, root, header[:32] + fields)
    header += hashlib.sha256(header).digest()
    return header + seal(expand(root, b"index", write_salt), index, header) + values


def main():
    command, path = sys.argv[1:3]
    if command == "open":
        with open(path, "rb") as file:
            vault = open_vault(file.read(), int(sys.argv[3]), bytes.fromhex(sys.argv[4]))
        json.dump(vault, sys.stdout, sort_keys=True, ensure_ascii=False)
    elif command == "make":
        with open(sys.argv[3], encoding="utf-8") as file:
            made = make_vault(json.load(file))
        with open(path, "wb") as file:
            file.write(made)
    else:
        sys.exit(__doc__)


main()
