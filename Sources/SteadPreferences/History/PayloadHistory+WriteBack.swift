import Foundation
import SteadFiles
import SteadFormats

extension PayloadHistory {
  /// Writes all entries under the key in the app's domain, as one JSON array for an older version of the app to read.
  ///
  /// The history keeps them; later entries are not in the array until it is written again. Changes that an
  /// older version makes to the array are imported when the history is next opened: new entries are inserted
  /// at the front; removals and changes have no effect. An array that is still the one written back is left
  /// in place.
  ///
  /// Entries that do not decode are included with their own bytes, if these are JSON; an older version that
  /// decodes the array as a whole may refuse it because of them.
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
    return try naming {
      // An array that may not be imported would be found again and again.
      try refuseIfReadOnly()
      while true {
        try takeOver()
        let found = preferences.writtenDomain.value(forKey: key)
        let (array, leftOut) = try array(encoder, includingUndecodable: includingUndecodable)
        let digest = SHA256.digest(of: array)
        // Until the new array is stored the old one must still be recognised as one of ours.
        guard let known = try knownDigest(of: found) else { continue }
        try commit([.note(written: digest + known)])
        let isWritten = try preferences.apply(
          [DomainEdit(key: key, value: .data(array))],
          ifStill: [DomainEdit(key: key, value: found)])
        if isWritten { return leftOut }
      }
    }
  }

  /// The digest of an array that was written back before, empty if none; nil when an older version of the app
  /// has just written another, which has to be imported first.
  private func knownDigest(of found: PropertyList?) throws -> Data? {
    switch found {
    case nil: return Data()
    case .data(let array)?:
      let digest = SHA256.digest(of: array)
      return read { $0.header }.isWritten(digest) ? digest : nil
    default:
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The key's value isn't data, and is not overwritten. Remove it, or "
          + "give the history another key.")
    }
  }

  private func array(
    _ encoder: JSONEncoder, includingUndecodable: Bool
  ) throws -> (Data, leftOut: Int) {
    let entries = read { Array($0.table.newestFirst) }
    var (array, leftOut) = (Data("[".utf8), 0)
    for entry in entries {
      let json: Data
      if let box = entry.content.payload {
        json = try encoder.encode(PayloadBox<Payload>.payload(in: box))
      } else {
        json = coder.allBytes(of: entry.stored)
        guard includingUndecodable, JSONReader.value(of: json) != nil else {
          leftOut += 1
          continue
        }
      }
      if array.count > 1 { array.append(UInt8(ascii: ",")) }
      array.append(json)
    }
    array.append(UInt8(ascii: "]"))
    return (array, leftOut)
  }
}
