import Foundation

/// Several changes of a history that are made as one.
public struct PayloadHistoryBatch<Payload: Codable & Identifiable & Sendable> {
  private let draft: (Payload) throws -> HistoryOperation.Draft
  private(set) var operations: [HistoryOperation] = []

  init(draft: @escaping (Payload) throws -> HistoryOperation.Draft) { self.draft = draft }

  /// Inserts a payload before all others.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when it cannot be encoded, `.tooLarge`.
  public mutating func prepend(_ payload: Payload) throws {
    operations.append(.prepend([try draft(payload)]))
  }

  /// Inserts payloads before all others, in their order.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  public mutating func prepend(contentsOf payloads: some Collection<Payload>) throws {
    operations.append(.prepend(try payloads.map(draft).reversed()))
  }

  /// Replaces the newest payload that has the same identity, if one exists.
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
