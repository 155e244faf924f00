import Foundation
import SteadFiles
import SteadFormats

extension DomainFile {
  /// How long, in seconds, a file that does not parse may be one that somebody is still writing.
  static let writingTime: TimeInterval = 2

  /// What tells one state of a file from another without reading it.
  struct PlistIdentity: Equatable {
    var size: Int
    var modified: Date
    var identity: FileStatus.Identity

    /// Whether somebody may still be writing; a clock that was set back makes no file young for ever.
    var isYoung: Bool { abs(modified.timeIntervalSinceNow) < DomainFile.writingTime }
  }

  /// What somebody else made of a property list file.
  struct Edited {
    var fields: PropertyList.Fields
    var fingerprint: PublishedFile.Fingerprint
  }

  /// Writes a new checkpoint and publishes it, with the edits that were made in the file meanwhile.
  ///
  /// Only one that was asked for waits until the property list file is on the disk: it can be made anew
  /// from the journal, which is.
  func compact(
    _ writer: Journal.Writer, _ replay: inout Replay, isAskedFor: Bool = false
  ) throws {
    try mergeEdits(base: writer.checkpoint, &replay)
    // Whoever is writing the file began with this checkpoint, and it is what to compare with.
    guard !isBeingWritten else { return }
    guard writer.logByteCount > 0 || onDisk != published.current else { return }
    let bytes = try BinaryPropertyList.encode(replay.table.fields())
    let text = options.format == .xml ? try replay.xml : bytes
    let new = PublishedFile(current: .init(text), previous: onDisk)
    if writer.logByteCount > 0 || new.current != published.current {
      try writer.compact(to: Journal.Checkpoint(bytes: bytes, metadata: new.metadata))
      published = new
    }
    try publish(text, durability: isAskedFor ? .file : .none)
  }

  /// Brings the keys into the table whose values in the file are not those of the checkpoint.
  func mergeEdits(base: UnsafeRawBufferPointer, _ replay: inout Replay) throws {
    guard let edited = try unseenEdits() else { return }
    replay.marks.rewrites += 1
    var old = DomainTable()
    try BinaryPropertyList.decode(base) { key, value in old.replace(key, with: value) }
    for field in edited.fields where !field.value.isSame(as: old[field.key]) {
      replay.edit(field.key, field.value, isOwn: false)
    }
    for field in old.fields() where edited.fields[field.key] == nil {
      replay.edit(field.key, nil, isOwn: false)
    }
    onDisk = edited.fingerprint
  }

  /// The file's contents, when neither this nor another process of ours has written them.
  func unseenEdits() throws -> Edited? {
    isBeingWritten = false
    let path = plist.path(percentEncoded: false)
    guard let status = try POSIXDisk().statusFollowingLinks(path), status.kind == .file else {
      onDisk = .none
      return nil
    }
    let seen = PlistIdentity(
      size: Int(status.size), modified: status.modified, identity: status.identity)
    guard seen != lastSeen else { return nil }
    guard let data = try AtomicFile(plist).readIfPresent() else { return nil }
    let fingerprint = PublishedFile.Fingerprint(data)
    if fingerprint == published.current || fingerprint == published.previous {
      onDisk = fingerprint
      remember(seen)
      return nil
    }
    // What a loss of power can leave of a file that was not synced.
    if data.allSatisfy({ $0 == 0 }), !seen.isYoung {
      onDisk = fingerprint
      isKeptAside = true
      return nil
    }
    do {
      return Edited(fields: try PropertyList.fields(of: data), fingerprint: fingerprint)
    } catch {
      try keepAside(data, seen, error)
      return nil
    }
  }

  /// Two changes within a tick of the file system's clock look the same, so a young file is read again.
  private func remember(_ seen: PlistIdentity) {
    if !seen.isYoung { lastSeen = seen }
  }

  /// Keeps a file that does not parse under another name; the next checkpoint writes it anew.
  private func keepAside(_ data: Data, _ seen: PlistIdentity, _ cause: any Error) throws {
    guard !seen.isYoung else {
      isBeingWritten = true
      return
    }
    guard !isReadOnly else {
      throw PreferencesError(
        code: .damaged,
        message:
          "The property list \(plist.lastPathComponent) does not parse. Repair it or move it "
          + "away.", cause: cause)
    }
    let name = try AsideFile(of: plist).keep(data)
    onDisk = .init(data)
    published.previous = onDisk
    isKeptAside = true
    problems.add(
      PreferencesError(
        code: .damaged,
        message: "The property list \(plist.lastPathComponent) does not parse. It is kept as "
          + "\(name), and is written anew from the journal.", cause: cause))
  }

  private func publish(_ data: Data, durability: AtomicFile.Durability) throws {
    guard onDisk != published.current else { return }
    var file = AtomicFile(plist)
    // The store waits, and lets others read meanwhile.
    file.lockWait = .zero
    try file.replace(with: data, durability: durability)
    onDisk = published.current
    lastSeen = nil
    isKeptAside = false
  }
}

extension Replay {
  fileprivate var xml: Data {
    get throws { try PropertyList.dictionary(.init(table.fields())).data(format: .xml) }
  }
}

extension PropertyList {
  /// The keys and values of a property list file of any format.
  static func fields(of data: Data) throws -> Fields {
    guard case .dictionary(let fields) = try parse(data) else {
      throw PreferencesError(
        code: .damaged, message: "The property list's root is not a dictionary.")
    }
    return fields
  }

  /// Whether a value that came back from a tool is the one that it was given.
  ///
  /// XML knows whole seconds only, and tools write every number with a fraction in 64 bits.
  func isSame(as other: PropertyList?) -> Bool {
    switch (self, other) {
    case (.date(let left), .date(let right)?):
      let seconds = left.timeIntervalSinceReferenceDate
      let distance = abs(left.timeIntervalSince(right))
      return distance < 1e-5 || seconds == seconds.rounded() && distance < 1
    case (.double(let left), .float(let right)?): return left == Double(right)
    case (.float(let left), .double(let right)?): return Double(left) == right
    case (.array(let left), .array(let right)?):
      return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
    case (.dictionary(let left), .dictionary(let right)?):
      return left.count == right.count && left.allSatisfy { $0.value.isSame(as: right[$0.key]) }
    default: return self == other
    }
  }
}
