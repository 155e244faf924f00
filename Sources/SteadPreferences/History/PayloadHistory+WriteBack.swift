import Foundation
import SteadFiles
import SteadFormats

extension PayloadHistory {
  /// Writes all entries under the key in the app's domain, as one array in JSON, for an older version of
  /// the app to read.
  ///
  /// The history keeps them; what is added later is not in the array until it is written again. What
  /// an older version makes of the array is taken over when the history is next opened: entries that
  /// are not there yet go in front; what it removed or changed has no effect. An array that is still the one that was
  /// written back is left where it is.
  ///
  /// Entries that do not decode are in the array, too, with their own bytes, if these are JSON; an older
  /// version that decodes the array as a whole may refuse it for them.
  ///
  /// - Parameters:
  ///   - dates: How dates are written; nil as the history's options have it.
  ///   - includingUndecodable: Whether entries that do not decode are in the array.
  /// - Returns: How many entries were left out.
  /// - Throws: ``PreferencesError``: `.doesNotDecode` when the key holds something that is no array,
  ///   `.readOnly`, `.noSpace`. The history is unharmed then, and so is what is under the key.
  @discardableResult
  public func writeBack(
    dates: PayloadHistoryOptions<Payload>.Dates? = nil, includingUndecodable: Bool = true
  ) throws -> Int {
    let encoder = PayloadCoder<Payload>.makeEncoder(options, dates: dates ?? options.dates)
    return try naming {
      while true {
        try takeOver()
        let found = preferences.writtenDomain.value(forKey: key)
        let (array, leftOut) = try array(encoder, includingUndecodable: includingUndecodable)
        let digest = SHA256.digest(of: array)
        // Until the new array is there the old one must still be known as one of ours.
        guard let known = try knownDigest(of: found) else { continue }
        try commit([.note(written: digest + known)])
        let isWritten = try preferences.apply(
          [DomainEdit(key: key, value: .data(array))],
          ifStill: [DomainEdit(key: key, value: found)])
        if isWritten { return leftOut }
      }
    }
  }

  /// The digest of an array that was written back before, empty when there is none; nil when an older
  /// version of the app has just written another, which has to be taken over first.
  private func knownDigest(of found: PropertyList?) throws -> Data? {
    switch found {
    case nil: return Data()
    case .data(let array)?:
      let digest = SHA256.digest(of: array)
      return read { $0.header }.isWritten(digest) ? digest : nil
    default:
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The key holds something other than data, which is not overwritten. Remove it, or "
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
