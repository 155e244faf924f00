import Foundation
import SteadFiles
public import SteadPreferences

extension TransferSource {
  /// A key of preferences: an array is an item for each element, anything else is one item.
  ///
  /// The array may be a property list's, or be JSON: in data, as `JSONEncoder` has written it, or in a
  /// string, as `@AppStorage` keeps an array that is made `RawRepresentable`. Dates in JSON are seconds since
  /// 2001 or ISO 8601. The elements decode as `Value`, by its own form where it is a `PreferenceValue`, else
  /// by its `Codable` form. Only the domain that the preferences write is looked at, never defaults or other
  /// domains. Taking items out leaves the other elements as they are, byte for byte; with the last one the
  /// key goes.
  public static func preference(
    _ key: String, of type: Value.Type = Value.self, in preferences: Preferences = .standard
  ) -> Self where Value: Decodable & Sendable {
    Self(PreferenceSource<Value>(key, in: preferences))
  }
}

/// A key of preferences as a source: an array is an item for each element, anything else is one item.
struct PreferenceSource<Value: Decodable & Sendable>: ItemSource {
  /// How often a removal is tried while other processes write the same key.
  static var attemptLimit: Int { 100 }

  let key: String
  let preferences: Preferences

  /// The value of a key, or the elements of its array.
  init(_ key: String, of type: Value.Type = Value.self, in preferences: Preferences) {
    self.key = key
    self.preferences = preferences
  }

  /// Key and domain.
  var name: String { "key \(key) of \(preferences.domain)" }

  /// Whether the domain can be written.
  var isRemovable: Bool { !preferences.isReadOnly }

  /// The elements, named by their index.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    guard let stored = try preferences.ownValue(forKey: key) else { return [] }
    let list = PreferenceList(stored, splitsData: Value.self != Data.self)
    guard !list.isUnreadable || Value.self == Data.self || decodes(list) else {
      throw TransferError(
        code: .unreadable,
        message:
          "\(name) holds data that isn't JSON, and was left as it is. Correct it, or remove it.")
    }
    return try list.elements.enumerated().map { index, element in
      try progress(.init(phase: .reading, completed: index, total: list.elements.count))
      return TransferItem(
        name: list.isArray ? "\(key)[\(index)]" : key, identity: try element.identity(),
        value: Result { try element.decoded(as: Value.self) })
    }
  }

  /// Takes elements out, if nobody has changed the key meanwhile, else out of what is there then.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    for _ in 0..<Self.attemptLimit {
      guard let stored = try preferences.ownValue(forKey: key) else { return 0 }
      var known = KnownItems(entries)
      let list = PreferenceList(stored, splitsData: Value.self != Data.self)
      let kept = try list.elements.filter { try known.take($0.identity()) == nil }
      let removed = list.elements.count - kept.count
      guard removed > 0 else { return 0 }
      let isDone = try preferences.apply(
        [DomainEdit(key: key, value: list.stored(kept))],
        ifStill: [DomainEdit(key: key, value: stored)])
      guard isDone else { continue }
      // What was moved may be a secret: the log would keep it for some hundred writes more.
      try preferences.flushWithoutTraces()
      return removed
    }
    throw TransferError(
      code: .changed,
      message:
        "Other programs wrote to \(name) on each of \(Self.attemptLimit) attempts. Run again.")
  }

  /// Whether data that isn't JSON is the type's own form, such as that of a URL.
  private func decodes(_ list: PreferenceList) -> Bool {
    list.elements.contains { (try? $0.decoded(as: Value.self)) != nil }
  }

  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    guard let other = destination as? PreferencesDestination,
      preferences.isSameDomain(as: other.preferences)
    else { return false }
    return placements.contains { $0.place.utf8.elementsEqual(key.utf8) }
  }
}
