import Foundation

/// The move of a service's secrets from one store to another.
///
/// **Invariant:** at each moment every secret is in one of the stores at least. Nothing is removed until all
/// secrets are copied and read back, and then only what the destination holds at that moment with the same
/// value. So a move that was interrupted can be restarted from the beginning. What is copied already is
/// skipped.
///
/// It knows neither locks nor records; ``ChosenStore`` has these.
struct SecretMove {
  typealias Progress = (SecretMoveProgress) -> Void

  let service: String
  let source: any SecretStore
  let destination: any SecretStore
  /// Whether other values at the destination are replaced.
  var isReplacing = false
  /// The source's features that the destination may lack.
  var accepted: Set<SecretStoreFeature> = []
  var progress: Progress = { _ in }

  /// Copies all items with their labels and attributes, and reads each back.
  ///
  /// All refusals come first: a move that cannot be completed copies nothing.
  func copy() throws(SecretError) {
    try checkFeatures()
    try checkDifferentStores()
    let items = try source.items(service: service)
    // All conflicts before the first copy, so that a refused move has changed nothing.
    for item in items { try checkConflict(item) }
    progress(SecretMoveProgress(step: .copying, completed: 0, total: items.count))
    for (index, item) in items.enumerated() {
      try checkCancellation()
      try copy(item)
      progress(SecretMoveProgress(step: .copying, completed: index + 1, total: items.count))
    }
  }

  /// Removes from the source what the destination contains.
  ///
  /// - Parameter moved: When an interrupted earlier move began to copy; nil for the end of this one. An item
  ///   that was last changed before is one that was copied. It is removed even if the destination has another
  ///   value by now, since programs have used the destination from then on.
  /// - Throws: ``SecretError``: `.changed` when the source has another value, which stays, or when both
  ///   stores have become the same. The copies that an earlier move left are out of reach in that case; nothing is
  ///   removed, and it isn't an error.
  func removeFromSource(movedAt moved: Date? = nil) throws(SecretError) {
    // If both lead to one store by now, for instance since the default collection was changed, each item would be
    // found in the destination and removed from it.
    guard try !isSameStore() else {
      guard moved == nil else { return }
      throw SecretError(
        code: .changed,
        message: "The secrets were moved, but the old location has come to mean the new store, so "
          + "nothing was removed. Remove the old copies from where it led before.",
        service: service)
    }
    let items = try source.items(service: service)
    var kept = 0
    for (index, item) in items.enumerated() {
      try checkCancellation()
      let id = try SecretID(service: service, account: item.account)
      let isDone = try isOld(item, moved) ? true : isSame(id)
      // Compared at this moment and not by what `copy` did: another program may have changed either store since.
      if isDone {
        try source.remove(id)
      } else {
        kept += 1
      }
      progress(SecretMoveProgress(step: .removing, completed: index + 1, total: items.count))
    }
    guard kept == 0 else {
      throw SecretError(
        code: .changed,
        message:
          "The secrets were moved, but \(kept) that another program changed in the old store "
          + "meanwhile are still there. Check which is right, and move again.",
        service: service)
    }
  }
}

extension SecretMove {
  /// Requires the caller's consent to each protection of the source that the destination lacks, except locking.
  private func checkFeatures() throws(SecretError) {
    let lost = source.features.subtracting(destination.features).subtracting(accepted)
      .subtracting([.locking])
    guard let first = SecretStoreFeature.allCases.first(where: lost.contains) else { return }
    throw SecretError(
      code: .unsupported,
      message:
        "The secrets would lose a protection by the move (\(first)). To move them anyway, "
        + "accept that, or choose another store.",
      service: service, feature: first)
  }

  private func checkDifferentStores() throws(SecretError) {
    guard try isSameStore() else { return }
    throw SecretError(
      code: .duplicateItem,
      message: "The old location and the new one are the same store. Nothing has to be moved.",
      service: service)
  }

  /// Whether source and destination are the same store: a probe item written to one appears in the other.
  ///
  /// The stores' descriptions are not conclusive. One collection has an alias and a name, and one vault can have
  /// several paths.
  private func isSameStore() throws(SecretError) -> Bool {
    // Resolves the source's alias anew. A read would accept one that was resolved up to a second ago.
    _ = try source.state()
    let probe = try SecretID(service: "stead.move", account: UUID().uuidString)
    // A random name, so that no other move and no leftover of a killed one is taken for this one.
    try destination.write(
      SecretBytes(""), for: probe,
      SecretStoreWrite(condition: .ifAbsent, label: "Made for a moment by a move of secrets"))
    let isSame: Bool
    do throws(SecretError) {
      isSame = try source.item(for: probe) != nil
    } catch {
      // On this way out, too: the probe would stay in the user's keyring.
      try destination.remove(probe)
      throw error
    }
    try destination.remove(probe)
    return isSame
  }

  private func checkConflict(_ item: SecretItem) throws(SecretError) {
    try checkCancellation()
    let id = try SecretID(service: service, account: item.account)
    guard !isReplacing, try destination.item(for: id) != nil, try !isSame(id) else { return }
    throw SecretError(
      code: .duplicateItem,
      message: "The new store holds another secret of this name, so nothing was moved. Remove the "
        + "one that is wrong, or move with replacing: true.",
      service: service, account: item.account)
  }

  private func copy(_ item: SecretItem) throws(SecretError) {
    let id = try SecretID(service: service, account: item.account)
    // Nil if another program has removed it since it was listed.
    guard let bytes = try source.bytes(for: id) else { return }
    // An earlier move that was interrupted may have copied it.
    let existing = try destination.bytes(for: id)
    let isDone = try existing == bytes ? describes(id, item) : false
    if !isDone {
      // Not `.always`: another program may write the secret between the read above and this write. If the
      // destination has another value, the condition fails, as it should without the caller's consent.
      let condition: SecretStoreWrite.Condition = existing == nil ? .ifAbsent : .ifHolding(bytes)
      try destination.write(
        bytes, for: id,
        SecretStoreWrite(
          condition: isReplacing ? .always : condition, label: item.label,
          attributes: item.attributes))
    }
    // The description counts, too: it is gone once the original is removed.
    guard try destination.bytes(for: id) == bytes, try describes(id, item) else {
      throw SecretError(
        code: .corrupt,
        message: "The new store returned something other than what was copied to it. Nothing was "
          + "removed from the old one; choose another new one.",
        service: service, account: item.account)
    }
  }

  /// Whether the destination has the item's label and attributes.
  private func describes(_ id: SecretID, _ item: SecretItem) throws(SecretError) -> Bool {
    guard let found = try destination.item(for: id) else { return false }
    return found.label == item.label && found.attributes == item.attributes
  }

  private func isSame(_ id: SecretID) throws(SecretError) -> Bool {
    guard let existing = try destination.bytes(for: id) else { return false }
    return try source.bytes(for: id) == existing
  }

  /// Whether an item was last changed before an earlier move.
  ///
  /// The Secret Service records whole seconds. So an item changed within the second of the move does not count
  /// as old, and its value is compared.
  private func isOld(_ item: SecretItem, _ moved: Date?) -> Bool {
    guard let moved, let modified = item.modified else { return false }
    return modified.timeIntervalSince1970 < moved.timeIntervalSince1970.rounded(.down)
  }

  private func checkCancellation() throws(SecretError) {
    guard Task.isCancelled else { return }
    throw SecretError(
      code: .cancelled,
      message: "The move was cancelled. Secrets may be in both stores; move again to finish.",
      service: service)
  }
}

extension SecretMove {
  /// The caller's options for a move besides the new location.
  struct Options {
    var isReplacing: Bool
    var accepted: Set<SecretStoreFeature>
    var progress: SecretMove.Progress

    func move(
      _ service: String, from source: any SecretStore, to destination: any SecretStore
    ) -> SecretMove {
      SecretMove(
        service: service, source: source, destination: destination, isReplacing: isReplacing,
        accepted: accepted, progress: progress)
    }
  }
}
