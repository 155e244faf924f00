import Foundation

/// How entries of an earlier version of a payload become payloads.
///
/// ```swift
/// options.version = 2
/// options.upgrades = [PayloadUpgrade(from: 1) { json in json["model"] = "unknown" }]
/// ```
///
/// An upgrade happens each time such an entry is read; the entry itself stays as it was written until
/// it is updated. So an upgrade can be corrected later, and an older program still reads its entries.
public struct PayloadUpgrade<Payload: Sendable>: Sendable {
  enum Step: Sendable {
    case fields(@Sendable (inout JSONObject) throws -> Void)
    case payload(@Sendable (Data, JSONDecoder) throws -> Payload)
  }

  /// The version that it upgrades.
  public let version: Int
  let step: Step

  /// Changes the fields of an entry into those of the next version.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades; the next one is `version + 1`.
  ///   - change: Changes the fields. An error leaves the entry as one that does not decode.
  public init(
    from version: Int, _ change: @escaping @Sendable (_ json: inout JSONObject) throws -> Void
  ) {
    self.version = version
    step = .fields(change)
  }

  /// Makes a payload of the newest version of what an entry of an earlier one was.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades.
  ///   - type: The payload as it was then.
  ///   - convert: Makes the payload as it is now. An error leaves the entry as one that does not decode.
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
