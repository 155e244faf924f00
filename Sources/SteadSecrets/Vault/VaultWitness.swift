import Crypto
import Foundation
import SteadEncoding
import SteadFiles

/// A small file apart from the vault that records the highest generation of it that a program has seen.
///
/// An old copy of the vault's file that is put back is authentic; only this record reveals it. The record is
/// authenticated by a key derived from the vault's root key. Who removes the file, or restores it together
/// with the vault, is not noticed.
///
/// It is optional: the vault also works if the witness cannot be written, as on a read-only file system. Then
/// ``VaultProblems`` reports that a rollback may go unnoticed.
///
/// The file has two records of 64 bytes. Generation g is written to record g mod 2, so that a write that is cut
/// short leaves the other one.
///
/// | offset | bytes | holds |
/// |---|---|---|
/// | 0 | 8 | generation |
/// | 8 | 24 | the first 24 bytes of that generation's write salt |
/// | 32 | 32 | HMAC-SHA256 of the 32 bytes before it |
struct VaultWitness: Sendable {
  private static let recordSize = 64
  private static let macSize = 32
  /// How long a read waits to raise the witness.
  private static let lockLimit = Duration.milliseconds(100)

  private let path: String?
  private let home: HomeDirectory?
  private let key: SecretBytes

  init(of vaultID: [UInt8], root: VaultRoot, environment: [String: String]) {
    let directories = try? AppDirectories(id: "stead", environment: environment)
    home = directories?.home
    // By the vault's id and not its path: a vault that is moved, or opened by another path, keeps its witness.
    path = try? directories?.state.appending(path: "vaults/\(vaultID.hexadecimal)").checkedPath
    key = root.witnessKey(vaultID).withUnsafeBytes { SecretBytes(copying: $0) }
  }

  /// The highest revision that was recorded; nil if none, or none that is authentic.
  func revision() -> VaultRevision? {
    guard let path, let file = try? OpenFile(readingIfPresent: path),
      let data = try? file.data(limit: 2 * Self.recordSize)
    else { return nil }
    return [data.prefix(Self.recordSize), data.dropFirst(Self.recordSize)]
      .compactMap(revision(in:))
      .max { $0.generation < $1.generation }
  }

  /// Records a revision, unless a higher one is recorded.
  func raise(to revision: VaultRevision) {
    guard let path else { return }
    let disk = POSIXDisk()
    do {
      try disk.makeDirectories(path.directoryPath, outside: home)
      // A lock of its own: readers raise the witness, too, and do not hold the vault's lock. The wait is
      // short, since the holder writes 64 bytes, unless it has been stopped.
      try FileLock(URL(filePath: path)).hold(for: Self.lockLimit) {
        if let recorded = self.revision(), recorded.generation >= revision.generation { return }
        let record = record(of: revision)
        // Not created here: the lock above has created it, for its owner alone.
        try disk.withDescriptor(path, O_RDWR | O_NOFOLLOW) { descriptor in
          let offset = off_t(revision.generation % 2) * off_t(Self.recordSize)
          // In place and without a sync: a write of the vault already costs two. After a power cut an older record
          // counts, as VaultFile.md says.
          let count = record.withUnsafeBytes {
            pwrite(descriptor, $0.baseAddress, $0.count, offset)
          }
          guard count == record.count else {
            // A short write sets no errno; the disk is full.
            throw FileError(
              errno: count < 0 ? errno : ENOSPC, doing: "write to the file", path: path)
          }
        }
      }
      VaultProblems.clear(at: path)
    } catch {
      // The program that has the lock has most likely recorded it.
      if let recorded = self.revision(), recorded.generation >= revision.generation { return }
      // Without a witness, a roll-back is noticed only within the process, as documented.
      VaultProblems.record(
        error, at: path, lack: "An older copy of the vault that somebody puts back may go unnoticed"
      )
    }
  }

  private var symmetricKey: SymmetricKey { key.withBytes { SymmetricKey(data: $0) } }

  private func record(of revision: VaultRevision) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.recordSize) { memory, count in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      writer.put(revision.generation)
      writer.put(revision.salt)
      let fields = UnsafeRawBufferPointer(memory)[..<writer.offset]
      let code = HMAC<Crypto.SHA256>.authenticationCode(
        for: UnsafeRawBufferPointer(rebasing: fields), using: symmetricKey)
      writer.put(Array(code))
      count = writer.offset
    }
  }

  private func revision(in record: Data) -> VaultRevision? {
    guard record.count == Self.recordSize,
      // Before anything of the record is used: with a forged generation every program would refuse the vault.
      HMAC<Crypto.SHA256>.isValidAuthenticationCode(
        record.suffix(Self.macSize), authenticating: record.dropLast(Self.macSize),
        using: symmetricKey)
    else { return nil }
    return record.withUnsafeBytes { bytes in
      var reader = VaultReader(bytes)
      guard let generation = try? reader.number(UInt64.self),
        let salt = try? reader.array(VaultRevision.saltSize)
      else { return nil }
      return VaultRevision(generation: generation, salt: salt)
    }
  }
}

// MARK: - Revision

/// A version of a vault: the generation, and a part of the write salt.
///
/// The salt distinguishes two versions of one number, as when two copies of a vault are written independently.
struct VaultRevision: Hashable, Sendable {
  static let saltSize = 24

  var generation: UInt64
  var salt: [UInt8]

  init(generation: UInt64, salt: [UInt8]) {
    self.generation = generation
    self.salt = Array(salt.prefix(Self.saltSize))
  }

  /// Whether a file with this revision is older than one that was seen, or belongs to another branch.
  ///
  /// Of two branches with different generations only the lower one is noticed.
  func isBehind(_ seen: VaultRevision) -> Bool {
    generation < seen.generation || (generation == seen.generation && salt != seen.salt)
  }
}

extension VaultHeader {
  /// What the witness records of the file.
  var revision: VaultRevision { VaultRevision(generation: generation, salt: writeSalt) }
}

// MARK: - Pin

/// A small file apart from the vault that records which vault is at a path.
///
/// One key may open several vaults, so the key alone does not reveal whether another of them has replaced it.
/// The pin also distinguishes a vault that has disappeared from one that never existed. As with the witness,
/// a vault works without a writable pin.
///
/// The file's name is the SHA-256 of the vault's path. Its contents are the vault id, in 32 hexadecimal
/// digits, and a line feed. It is not authenticated: who can write it can also remove it.
struct VaultPin: Sendable {
  private static let size = 2 * VaultLayout.idSize + 1

  private let path: String?
  private let home: HomeDirectory?

  /// - Parameter vault: The path of the vault itself, with links followed.
  init(vault: String, environment: [String: String]) {
    let directories = try? AppDirectories(id: "stead", environment: environment)
    home = directories?.home
    let name = SHA256.hexadecimal(vault.utf8)
    path = try? directories?.state.appending(path: "vault-paths/\(name)").checkedPath
  }

  /// The identity of the vault that was last at the path; nil when none is recorded, or the file is damaged.
  func id() -> [UInt8]? {
    guard let path, let file = try? OpenFile(readingIfPresent: path),
      let text = try? file.data(limit: Self.size), text.count == Self.size, text.last == 10
    else { return nil }
    return [UInt8](hexadecimal: text.dropLast())
  }

  /// Records a vault in place of the one that was at the path before.
  func record(_ id: [UInt8]) {
    guard let path, self.id() != id else { return }
    // Not written again with each opening: that would cost a sync.
    do {
      try POSIXDisk().makeDirectories(path.directoryPath, outside: home)
      try AtomicFile(URL(filePath: path)).replace(
        with: Data((id.hexadecimal + "\n").utf8), permissions: .ownerOnly)
      VaultProblems.clear(at: path)
    } catch {
      // Without a pin, another vault is noticed only by objects that have the first one open, as documented.
      VaultProblems.record(
        error, at: path,
        lack: "A vault that disappears, or that another one replaces, may go unnoticed")
    }
  }
}

extension [UInt8] {
  /// Two lower-case digits for each byte.
  var hexadecimal: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// The bytes that such digits encode; nil for anything else.
  fileprivate init?(hexadecimal digits: Data) {
    var bytes: [UInt8] = []
    var rest = digits[...]
    while let high = rest.popFirst() {
      guard let low = rest.popFirst(),
        let byte = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    self = bytes
  }
}

// MARK: - Problems

/// Problems with witnesses and pins, which are reported to `Stead.onProblem`.
///
/// A vault works without these files, so no call throws. A problem is recorded where it occurs, possibly under the
/// vault's lock, and reported after the lock is released: the handler may use the vault. The problem of a file is
/// reported once, and again only if the file was written successfully in between.
enum VaultProblems {
  private struct State {
    var pending: [Stead.Problem] = []
    /// The files whose problem was recorded.
    var reported: Set<String> = []
  }

  private static let state = ForkSafeLock(State())

  /// Records that a file cannot be written.
  ///
  /// - Parameter lack: What goes unnoticed as long as it cannot be written.
  static func record(_ error: any Error, at path: String, lack: String) {
    let remedy =
      (error as? FileError)?.code == .busy
      ? "Resume or end the program that has it locked."
      : "Make its directory writable, or set XDG_STATE_HOME to one that is."
    let problem = Stead.Problem(
      code: .rollbackUnnoticed, product: .secrets, subject: path,
      message: "\(lack), because this file cannot be written. \(remedy)",
      cause: error)
    state.withLock { state in
      // Once for each file: a vault on a read-only home would report with each write.
      if state.reported.insert(path).inserted { state.pending.append(problem) }
    }
  }

  /// Records that a file was written, so that its next problem is reported again.
  static func clear(at path: String) { state.withLock { _ = $0.reported.remove(path) } }

  /// Reports the recorded problems. Must not be called under a lock.
  static func reportPending() {
    let pending = state.withLock { state in
      defer { state.pending = [] }
      return state.pending
    }
    for problem in pending { Stead.report(problem) }
  }
}

extension Stead.Problem.Code {
  /// The files that reveal a vault that was rolled back or replaced cannot be written. The vault works, but
  /// an older copy of it, or another vault in its place, may go unnoticed.
  public static let rollbackUnnoticed = Self("rollbackUnnoticed")
}
