import Foundation

/// Changes of a history that are to be made as one.
public struct PayloadHistoryBatch<Payload: Codable & Identifiable & Sendable> {
  private let draft: (Payload) throws -> HistoryOperation.Draft
  private(set) var operations: [HistoryOperation] = []

  init(draft: @escaping (Payload) throws -> HistoryOperation.Draft) { self.draft = draft }

  /// Puts a payload in front of all others.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when it does not encode, `.tooLarge`.
  public mutating func prepend(_ payload: Payload) throws {
    operations.append(.prepend([try draft(payload)]))
  }

  /// Puts payloads in front of all others, in their order.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  public mutating func prepend(contentsOf payloads: some Collection<Payload>) throws {
    operations.append(.prepend(try payloads.map(draft).reversed()))
  }

  /// Puts a payload in the place of the newest one with its identity, if there is one.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  public mutating func update(_ payload: Payload) throws {
    operations.append(.update(try draft(payload)))
  }

  /// Removes all payloads with an identity.
  public mutating func remove(id: Payload.ID) { operations.append(.remove(id)) }

  /// Removes all payloads; entries that do not decode stay.
  public mutating func removeAll() {
    operations.append(.removeAll(includingUndecodable: false))
  }
}
