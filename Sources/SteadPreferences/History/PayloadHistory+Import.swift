import Foundation
import SteadEncoding
import SteadFormats

extension PayloadHistory {
  /// Imports the array that the app, or an older version of it, has stored under the key.
  ///
  /// In this order, so that a kill at any point loses and doubles nothing:
  ///
  /// 1. The entries and a digest of the array are written to the history as one record.
  /// 2. The record is flushed.
  /// 3. The array is removed, if it is still the same one.
  ///
  /// After a kill between 1 and 3, the digest tells the next opening that only the removal is left.
  func importArray() throws {
    // Repeated, since an older version of the app may store another array at any time.
    while let found = preferences.writableDomain.value(forKey: key) {
      guard case .data(let array) = found else {
        return report(
          "The key's value isn't data, and is left as it is. Give the "
            + "history another key.")
      }
      let digest = Data(SHA256.digest(of: array))
      let header = read { $0.header }
      // The array is what `writeBack` has stored: there is nothing to import, and it stays for
      // older versions.
      if header.isExported(digest) { return }
      guard !preferences.plan.options.isReadOnly else {
        return report(
          "The key has entries that the history has not imported yet. Open it for writing once.")
      }
      if digest != header.importedDigest {
        guard let elements = JSONArraySplitter.elements(of: array) else {
          if try preferences.quarantine(
            found, replacingWith: nil, forKey: key, cause: Self.notAnArray)
          {
            return
          }
          continue
        }
        // The array has the newest first, and the last draft becomes the newest entry.
        let drafts = elements.reversed().map { coder.draft(importing: $0) }
        try commit([.importArray(drafts, digest: digest)])
        reportUndecodable(drafts)
      }
      // Before the array is removed: a power loss could otherwise undo the record, and keep the
      // removal.
      try store.flush()
      let isRemoved = try preferences.apply(
        [DomainEdit(key: key, value: nil)], ifStill: [DomainEdit(key: key, value: found)])
      if isRemoved { return }
    }
  }

  private func reportUndecodable(_ drafts: [HistoryOperation.Draft]) {
    report(drafts.reversed().compactMap(\.content.cause))
  }

  private func report(_ message: String) {
    problems.add(
      PreferencesError(
        code: .doesNotDecode, message: message, domain: preferences.domain, key: key))
  }

  private static var notAnArray: PreferencesError {
    PreferencesError(code: .doesNotDecode, message: "The stored value isn't a JSON array.")
  }

  // MARK: - Export

  /// Writes all entries under the key in the app's domain, as one JSON array for an older version
  /// of the app to read.
  ///
  /// The history keeps them; later entries are not in the array until it is written again. Changes
  /// that an older version makes to the array are imported when the history is next opened: new
  /// entries are inserted at the front; removals and changes have no effect. An array that is still
  /// the one written back is left in place.
  ///
  /// Entries that do not decode are included with their own bytes, if these are JSON; an older
  /// version that decodes the array as a whole may refuse it because of them.
  ///
  /// - Parameters:
  ///   - dates: How dates are written; nil means as in the history's options.
  ///   - includingUndecodable: Whether to include entries that do not decode.
  /// - Returns: The number of omitted entries.
  /// - Throws: ``PreferencesError``: `.doesNotDecode` when the key's value isn't data, `.readOnly`,
  ///   `.noSpace`. The history and the key's value are unchanged then.
  @discardableResult
  public func writeBack(
    dates: PayloadHistoryOptions<Payload>.Dates? = nil, includingUndecodable: Bool = true
  ) throws -> Int {
    let encoder = PayloadCoder<Payload>.makeEncoder(options, dates: dates ?? options.dates)
    return try addingErrorContext {
      // An array that may not be imported would be found again and again.
      try refuseIfReadOnly()
      while true {
        try importArray()
        let found = preferences.writableDomain.value(forKey: key)
        let (array, omittedCount) = try array(encoder, includingUndecodable: includingUndecodable)
        let digest = Data(SHA256.digest(of: array))
        // Until the new array is stored the old one must still be recognised as one of ours.
        guard let known = try knownDigest(of: found) else { continue }
        // First the digest, then the array: a kill in between leaves the old array, which the
        // second digest still identifies.
        try commit([.recordExport(digest: digest + known)])
        let isWritten = try preferences.apply(
          [DomainEdit(key: key, value: .data(array))],
          ifStill: [DomainEdit(key: key, value: found)])
        if isWritten { return omittedCount }
      }
    }
  }

  /// The digest of the array under the key if it was written back by a history, empty if there is
  /// no array; nil when an older version of the app has just stored another one, which has to be
  /// imported first.
  private func knownDigest(of found: PropertyList?) throws -> Data? {
    switch found {
    case nil: return Data()
    case .data(let array)?:
      let digest = Data(SHA256.digest(of: array))
      return read { $0.header }.isExported(digest) ? digest : nil
    default:
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The key's value isn't data, and is not overwritten. Remove it, or "
          + "give the history another key.")
    }
  }

  /// All entries as one JSON array, newest first, and the number of those that were left out.
  private func array(
    _ encoder: JSONEncoder, includingUndecodable: Bool
  ) throws -> (Data, omittedCount: Int) {
    let entries = read { Array($0.table.newestFirst) }
    var (array, omittedCount) = (Data("[".utf8), 0)
    for entry in entries {
      let json: Data
      if let box = entry.content.payload {
        json = try encoder.encode(PayloadBox<Payload>.payload(in: box))
      } else {
        json = coder.allBytes(of: entry.stored)
        guard includingUndecodable, JSONReader.value(of: json) != nil else {
          omittedCount += 1
          continue
        }
      }
      if array.count > 1 { array.append(UInt8(ascii: ",")) }
      array.append(json)
    }
    array.append(UInt8(ascii: "]"))
    return (array, omittedCount)
  }
}

// MARK: - Records for transfers

/// An entry of a history as it is stored, for moving entries elsewhere.
package struct HistoryRecord<Payload: Sendable>: Sendable {
  /// Unique in the history; higher for newer entries.
  package let sequence: UInt64
  /// The version of the payload's fields.
  package let version: Int
  /// The JSON; empty when it could not be read.
  package let bytes: Data
  /// The payload, or the reason why it could not be read.
  package let payload: Result<Payload, any Error>
}

extension PayloadHistory {
  /// All entries, newest first, including those that do not decode.
  package func records() throws -> [HistoryRecord<Payload>] {
    let entries = read { Array($0.table.newestFirst) }
    return entries.compactMap { entry in
      var payload: Result<Payload, any Error> =
        switch entry.content {
        case .payload(let box, _): .success(PayloadBox.payload(in: box))
        case .undecodable(let cause): .failure(error(cause))
        }
      // The file of a large payload may have disappeared since it was decoded.
      if entry.stored.reference != nil, case .failure(let cause) = coder.bytes(of: entry.stored) {
        guard isStillStored(entry.sequence, entry.stored) else { return nil }
        payload = .failure(error(cause))
      }
      return HistoryRecord(
        sequence: entry.sequence, version: entry.stored.version,
        bytes: coder.allBytes(of: entry.stored), payload: payload)
    }
  }

  private func error(_ cause: UndecodableCause) -> PreferencesError {
    PreferencesError(
      code: .doesNotDecode, message: cause.message, domain: preferences.domain, key: key,
      cause: cause.cause)
  }

  /// Removes entries that are still unchanged since they were read, as one change.
  package func removeRecords(_ records: [(sequence: UInt64, bytes: Data)]) throws {
    try commit([.removeRecords(records)])
  }
}

extension PayloadCoder {
  /// The bytes of any entry; empty if they cannot be read.
  func allBytes(of stored: StoredEntry) -> Data {
    if case .other(let value) = stored.body { return StoredEntry.bytes(of: value) }
    return (try? bytes(of: stored).get()) ?? Data()
  }
}
