import Foundation

extension Preferences {
  /// Updates the property list files, and applies other programs' changes of files.
  ///
  /// Values are durable without it. Returns whether everything succeeded; `onError` is called for failures.
  @discardableResult
  public func synchronize() -> Bool {
    var isDone = true
    environment.shared.reloadLayers { error in
      isDone = false
      report(error)
    }
    environment.shared.renewChangedLists(report: report)
    let list = search.list
    for layer in list.layers {
      if !layer.refresh() { isDone = false }
    }
    if !plan.options.isReadOnly, reporting({ try list.target.checkpoint() }) == nil {
      isDone = false
    }
    return isDone && list.problem == nil
  }

  /// Returns once everything set in the domain survives a power loss.
  ///
  /// Waits for the disk: a tenth of a millisecond to some milliseconds. What other objects have set in other domains, such
  /// as one of ``scopedToCurrentHost()``, is flushed by those.
  ///
  /// - Throws: ``PreferencesError`` when the disk fails, the domain could not be opened, or one that
  ///   ``setPersistentDomain(_:forName:)`` has changed is not stored.
  public func flush() throws {
    let list = search.list
    if let problem = list.problem { throw problem }
    try reraising { try list.target.flush() }
    try environment.shared.flushUnstored()
  }

  /// Flushes as ``flush()`` does, and removes all traces of removed or replaced values from the files.
  package func flushWithoutTraces() throws {
    let list = search.list
    if let problem = list.problem { throw problem }
    try reraising { try list.target.checkpoint() }
  }

  /// Resets the search list of ``standard``, after a ``synchronize()``, which removes added suites.
  ///
  /// The object stays the same, and so do its observers.
  public static func resetStandardUserDefaults() {
    standard.synchronize()
    standard.search.renew(report: standard.report) { $0 = [] }
  }
}
