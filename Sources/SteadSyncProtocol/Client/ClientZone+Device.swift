extension ClientZone {
  /// Gives the device another name, as after it was enrolled again.
  ///
  /// Pending changes are renumbered under the new name, by a new client: a server accepts no stamps of another device.
  ///
  /// - Parameter client: a random identifier that was never used.
  package mutating func rename(
    device: DeviceID, as client: ClientID
  ) throws(Storage.Failure) {
    let old = state.device
    guard device != old else { return }
    state.device = device
    state.outbox = state.outbox.map { transaction in
      var result = transaction
      result.mutations = transaction.mutations.map { mutation in
        // Records that are only brought back keep their authors.
        if case .restore = mutation { return mutation }
        return mutation.restamped { stamp in
          var stamp = stamp
          if stamp.device == old { stamp.device = device }
          return stamp
        }
      }
      return result
    }
    try renumber(as: client, before: [])
  }
}
