import Foundation
import SteadEncoding
import SteadFiles

/// A history's own domain, beside the one that it belongs to, and the directory of its large
/// payloads.
///
/// An own domain keeps the app's small: its checkpoints and its property list are not rewritten
/// with each entry.
struct HistoryStorage {
  let store: DomainStore
  /// nil if domains are kept in memory.
  let blobs: HistoryBlobs?
}

extension SearchPlan {
  /// The domain of a history, created if missing.
  ///
  /// - Throws: ``PreferencesError`` when it cannot be opened.
  func openHistory(_ key: String) throws -> HistoryStorage {
    let isHost = scope == .thisHost
    let name = HistoryName.domain(isHost ? "\(domain).\(environment.host)" : domain, key: key)
    guard let base = directory(of: domain) else {
      return HistoryStorage(
        store: environment.shared.makeMemory(name, options: options), blobs: nil)
    }
    let directory =
      isHost ? base.appending(path: "ByHost", directoryHint: .isDirectory) : base
    let store = try DomainStore.open(domain: name, directory: directory, options: options)
    let blobs = directory.appending(path: "\(name).blobs", directoryHint: .isDirectory)
    return HistoryStorage(store: store, blobs: HistoryBlobs(directory: blobs))
  }
}

// MARK: - Names

/// The name of a history's domain: `DOMAIN.history.KEY`, with the key escaped for a file's name.
enum HistoryName {
  private static let marker = ".history."
  /// The number of a digest's digits that replace what does not fit into a file's name.
  private static let digitCount = 32

  static func domain(_ domain: String, key: String) -> String {
    let name = domain + marker + escaped(key)
    // The readable form wherever it fits.
    guard name.utf8.count > DomainName.limit else { return name }
    // The digest covers the whole, so truncation makes no two names equal.
    let digest = SHA256.hexadecimal((domain + "/" + key).utf8).prefix(digitCount)
    let room = DomainName.limit - marker.utf8.count - digitCount
    var start = domain
    // By characters, so that the name stays valid UTF-8.
    while start.utf8.count > room { start.removeLast() }
    return start + marker + digest
  }

  /// The key, with `%` and two digits for each byte that a file's name may not contain.
  private static func escaped(_ key: String) -> String {
    // True at the beginning, too: the marker before the key ends with a dot.
    var (text, isAfterDot) = ("", true)
    for byte in key.utf8 {
      let isDot = byte == UInt8(ascii: ".")
      // Two dots in a row, or one at the beginning, would not be a domain's name.
      if byte.isPlain || isDot && !isAfterDot {
        text.unicodeScalars.append(UnicodeScalar(byte))
      } else {
        text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
      isAfterDot = isDot
    }
    return text
  }
}

extension UInt8 {
  /// A letter or a digit of ASCII, `-` or `_`.
  fileprivate var isPlain: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

// MARK: - Large payloads

/// The files of a history's large payloads.
///
/// Invariant: a blob exists as long as an entry refers to it. It is written before the first such
/// entry, and removed after the last one. The lock is held over both steps of a change, so that
/// no process removes a blob between another's two steps. It ends with its process, and the next
/// opening sweeps what was left in between.
struct HistoryBlobs: Sendable {
  private let store: BlobStore
  private let lock: FileLock

  init(directory: URL) {
    store = BlobStore(directory: directory)
    lock = FileLock(directory.appendingPathExtension("lock"))
  }

  func read(_ reference: String) throws -> Data { try store.read(reference) }

  func withLock<Result>(_ body: () throws -> Result) throws -> Result {
    try lock.withLock(.exclusive, body)
  }

  /// Writes a payload's bytes durably: an entry may be on the disk before it is flushed.
  /// Requires the lock.
  func write(_ bytes: Data) throws { _ = try store.write(bytes) }

  /// Removes a blob that nothing refers to. Requires the lock.
  func remove(_ reference: String) throws { try store.remove(reference) }

  /// Whether blobs, or parts of some, may exist that nothing refers to.
  func hasLeftovers(keeping references: Set<String>) -> Bool {
    (try? store.hasLeftovers(keeping: references)) == true
  }

  /// Removes all blobs but these. Requires the lock.
  func sweep(keeping references: Set<String>) throws { try store.sweep(keeping: references) }
}

extension PayloadHistory {
  // MARK: - Changes with blobs

  /// Makes a change together with the files of its large payloads.
  ///
  /// They are written, and synced, before the change; those that nothing refers to any more are
  /// removed after it. If the change throws, those that were written for it are removed.
  func withBlobs(
    of operations: [HistoryOperation], _ core: HistoryCore, _ body: () throws -> HistoryOutcome
  ) throws -> HistoryOutcome {
    // Most changes have no large payload, and need neither the lock nor a file.
    let drafts = operations.flatMap(\.drafts).filter { $0.blob != nil }
    guard let blobs = coder.blobs, !drafts.isEmpty else {
      let outcome = try body()
      if let blobs = coder.blobs, !outcome.released.isEmpty {
        deferringErrors { try blobs.withLock { remove(outcome.released, from: blobs, core) } }
      }
      return outcome
    }
    return try blobs.withLock {
      do {
        for draft in drafts {
          if let blob = draft.blob { try blobs.write(blob) }
        }
        let outcome = try body()
        remove(outcome.released, from: blobs, core)
        return outcome
      } catch {
        // Those that other entries refer to are kept, as equal payloads share a file.
        remove(drafts.compactMap(\.stored.reference), from: blobs, core)
        throw error
      }
    }
  }

  /// Removes blobs that no entry refers to now. Requires the blobs' lock.
  ///
  /// The change itself is done. What fails here is reported, and left to the next opening.
  private func remove(_ references: [String], from blobs: HistoryBlobs, _ core: HistoryCore) {
    deferringErrors {
      _ = pullUpdates(core)
      // Asked again under the blobs' lock: another writer may have added an entry with the same
      // contents.
      let unused = core.withLock { state in
        Set(references).filter { !state.table.refers(to: $0) }
      }
      for reference in unused { try blobs.remove(reference) }
    }
  }

  /// Removes the leftovers of processes that were killed between a blob and its entry. Called when
  /// the history is opened.
  func sweepBlobs() {
    guard let blobs = coder.blobs, !preferences.plan.options.isReadOnly else { return }
    let core = cores.current
    // Without the lock, since there is almost never anything to remove.
    guard blobs.hasLeftovers(keeping: core.withLock { $0.table.allReferences }) else { return }
    deferringErrors {
      try blobs.withLock {
        _ = pullUpdates(core)
        try blobs.sweep(keeping: core.withLock { $0.table.allReferences })
      }
    }
    deliver(core)
  }

  /// Runs a body, and keeps its error for the next report, which is made without a lock.
  private func deferringErrors(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      problems.add(PreferencesError(error, domain: preferences.domain, key: key))
    }
  }
}
