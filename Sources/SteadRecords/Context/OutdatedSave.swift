/// Another program has changed a custom store since a save was checked against its content; nothing was saved there.
struct OutdatedSave: Error {
  let store: String
  /// Whether a custom store before it has saved, so that the save must not be repeated.
  var hasSavedOthers = false

  /// The error for the program.
  var reason: SwiftDataError {
    let end =
      hasSavedOthers
      ? "after other custom stores of the container had saved. All changes are still pending, and saving again would make the "
        + "new objects of those stores twice. Call rollback(), make the changes of the others again, and save."
      : "during each of \(ObjectGraph.saveAttempts) attempts to save. The changes are still pending; save again."
    return SwiftDataError(.storeLocked, "Other programs changed the store \(store) \(end)")
  }
}
