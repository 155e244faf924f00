import Foundation

/// How entries of an earlier payload version become payloads.
///
/// ```swift
/// options.version = 2
/// options.upgrades = [PayloadUpgrade(from: 1) { json in json["model"] = "unknown" }]
/// ```
///
/// An upgrade runs each time such an entry is read; the entry itself stays unchanged until it is updated. So
/// an upgrade can be corrected later, and an older program can still read its entries.
public struct PayloadUpgrade<Payload: Sendable>: Sendable {
  enum Step: Sendable {
    case fields(@Sendable (inout JSONObject) throws -> Void)
    case payload(@Sendable (Data, JSONDecoder) throws -> Payload)
  }

  /// The version that it upgrades from.
  public let version: Int
  let step: Step

  /// Changes the fields of an entry into those of the next version.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades from; the next one is `version + 1`.
  ///   - change: Changes the fields. If it throws, the entry counts as one that does not decode.
  public init(
    from version: Int, _ change: @escaping @Sendable (_ json: inout JSONObject) throws -> Void
  ) {
    self.version = version
    step = .fields(change)
  }

  /// Converts an entry of an earlier version directly to a payload of the newest.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades from.
  ///   - type: The payload's type in that version.
  ///   - convert: Converts it to the current type. If it throws, the entry counts as one that does not decode.
  public init<Old: Decodable & SendableMetatype>(
    from version: Int, _ type: Old.Type,
    _ convert: @escaping @Sendable (Old) throws -> Payload
  ) {
    self.version = version
    step = .payload { json, decoder in
      let old: Old
      do {
        old = try decoder.decode(Old.self, from: json)
      } catch {
        throw UndecodableCause(decoding: error)
      }
      return try convert(old)
    }
  }
}
