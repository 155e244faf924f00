/// Finds the new objects of a save that have a unique key of an earlier new object, or of a changed one.
struct DuplicateFinder {
  typealias Model = any PersistentModel
  /// A new object, and the one that stands for it.
  typealias Pair = (duplicate: Model, original: Model)

  private let keys: UniqueKeys
  /// The object that has each key.
  private var holders: [UniqueKeys.Key: Model] = [:]
  private var held: [ObjectIdentifier: [UniqueKeys.Key]] = [:]

  init(_ keys: UniqueKeys) { self.keys = keys }

  /// Throws for two objects of different classes of a hierarchy, neither of which can stand for the other.
  ///
  /// - Parameter new: In the order of their insertion.
  mutating func pairs(
    new: [Model], changed: [Model], _ entity: (Model) -> EntityLayout
  ) throws -> [Pair] {
    var pairs: [Pair] = []
    for model in changed {
      hold(try keys.keys(of: model, entity(model), isPlanned: true), by: model)
    }
    for model in new {
      let keys = try keys.keys(of: model, entity(model), isPlanned: true)
      let originals = keys.compactMap { holders[$0] }
      // One object cannot be two rows; the save names both.
      guard let original = originals.first, originals.allSatisfy({ $0 === original }) else {
        if originals.isEmpty { hold(keys, by: model) }
        continue
      }
      if entity(original) !== entity(model), let key = keys.first(where: { holders[$0] != nil }) {
        throw UniqueKeys.otherClass(
          entity(model), key, holds: "\(entity(original).name) of this save")
      }
      pairs.append((model, original))
      // It gets the values of the later object.
      for key in held[ObjectIdentifier(original)] ?? [] { holders[key] = nil }
      held[ObjectIdentifier(original)] = nil
      hold(keys, by: original)
    }
    return pairs
  }

  private mutating func hold(_ keys: [UniqueKeys.Key], by model: Model) {
    for key in keys { holders[key] = model }
    held[ObjectIdentifier(model)] = keys
  }
}
