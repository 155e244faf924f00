import Crypto
import Foundation
import SteadFiles

extension VaultFile {
  /// Opens or creates a vault, and returns its root key and contents.
  func open(
    _ key: VaultKey, _ opening: Vault.Opening, _ environment: [String: String]
  ) throws(SecretError) -> (VaultRoot, VaultSnapshot) {
    let pin = pin(environment)
    if opening != .create {
      // Read first: another thread or process may create the vault, and remember it, just after it was looked for.
      let remembered = pin.id()
      if let opened = try openIfPresent(key, environment, expecting: remembered) { return opened }
      // A vault that has disappeared must not look like one that never had secrets.
      guard opening == .openOrCreate, remembered == nil else { throw missing }
    }
    try makeDirectory(environment)
    return try locked { () throws(SecretError) in
      if opening == .openOrCreate {
        let remembered = pin.id()
        if let opened = try openIfPresent(key, environment, expecting: remembered) { return opened }
        guard remembered == nil else { throw missing }
      }
      guard try status() == nil else {
        throw SecretError(
          code: .duplicateItem,
          message: "Something already exists at \(path). Open it, or choose another location.")
      }
      return try make(key, environment)
    }
  }

  /// - Parameter id: The identity that the vault must have; nil for any.
  /// - Throws: ``SecretError`` when it exists and does not open.
  func openIfPresent(
    _ key: VaultKey, _ environment: [String: String], expecting id: [UInt8]?
  ) throws(SecretError) -> (VaultRoot, VaultSnapshot)? {
    guard let file = try open() else { return nil }
    let (data, header) = try read(file)
    let material = try key.material(makingIfAbsent: false, environment)
    let isExpected = id == nil || id == header.id
    guard let (root, _) = try header.root(for: key.kind, by: material) else {
      throw isExpected ? header.wrongKey(key.kind, path) : exchanged
    }
    // The identity is authentic only now: damage must not look like another vault.
    let snapshot = try VaultSnapshot(data, of: file, header: header, root: root)
    guard isExpected else { throw exchanged }
    return (root, snapshot)
  }

  /// The contents of a file, checked as far as possible without a key.
  func read(_ file: OpenFile) throws(SecretError) -> (Data, VaultHeader) {
    let data = try file.data(limit: VaultLayout.fileLimit)
    let header = try data.withUnsafeBytes { bytes in
      Result { () throws(SecretError) in try VaultHeader(parsing: bytes) }
    }.get()
    let end = header.size - VaultLayout.digestSize
    guard Crypto.SHA256.hash(data: data[..<end]).elementsEqual(data[end..<header.size]) else {
      throw .damagedVault("its header differs from what was written")
    }
    return (data, header)
  }

  private func make(
    _ key: VaultKey, _ environment: [String: String]
  ) throws(SecretError) -> (VaultRoot, VaultSnapshot) {
    let id = [UInt8].random(count: VaultLayout.idSize)
    let root = VaultRoot.random()
    let material = try key.material(makingIfAbsent: true, environment)
    let slot = try VaultSlot.sealing(
      root, of: id, kind: key.kind, scrypt: key.scrypt, material: material)
    let (data, _) = try VaultDraft(id: id, slots: [slot]).file(root: root)
    try create(data)
    guard let file = try open() else { throw missing }
    let (written, header) = try read(file)
    return (root, try VaultSnapshot(written, of: file, header: header, root: root))
  }
}

extension VaultHeader {
  /// The root key, and the slot that a key opens; nil when it opens none.
  func root(
    for kind: VaultKeySlot.Kind, by material: SecretBytes
  ) throws(SecretError) -> (VaultRoot, VaultSlot)? {
    for slot in slots where slot.kind == kind {
      if let root = try slot.root(of: id, by: material) { return (root, slot) }
    }
    return nil
  }

  func wrongKey(_ kind: VaultKeySlot.Kind, _ path: String) -> SecretError {
    let isThere = slots.contains { $0.kind == kind }
    return SecretError(
      code: .wrongKey,
      message: isThere
        ? "The key does not open the vault \(path). Use another one."
        : "The vault \(path) requires another kind of key than this. Use one of those.")
  }
}
