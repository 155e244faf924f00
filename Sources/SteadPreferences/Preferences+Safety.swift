import Foundation

extension Preferences {
  /// Brings the property list files up to date, and takes in what others have changed in files.
  ///
  /// Not needed for values to be kept. Returns whether all of it worked; `onError` is told of what did
  /// not.
  @discardableResult
  public func synchronize() -> Bool {
    var isDone = true
    environment.shared.reloadLayers { error in
      isDone = false
      report(error)
    }
    environment.shared.renewLists(report: report, isOwn: false)
    let list = search.list
    for layer in list.layers {
      if !layer.refresh() { isDone = false }
    }
    if !plan.options.isReadOnly, reporting({ try list.target.checkpoint() }) == nil {
      isDone = false
    }
    return isDone && list.problem == nil
  }

  /// Returns when everything that was set in the domain will survive a loss of power.
  ///
  /// Waits for the disk: a tenth of a millisecond to some milliseconds.
  ///
  /// - Throws: ``PreferencesError`` when the disk refuses, or the domain could not be opened.
  public func flush() throws {
    let list = search.list
    if let problem = list.problem { throw problem }
    try reraising { try list.target.flush() }
  }

  /// ``flush()``, and the files hold what the domain has now, and nothing that was removed or replaced.
  package func flushWithoutTraces() throws {
    let list = search.list
    if let problem = list.problem { throw problem }
    try reraising { try list.target.checkpoint() }
  }

  /// Gives ``standard`` its first search list back, after a ``synchronize()``: added suites are gone.
  ///
  /// The object stays the same, and so do its observers.
  public static func resetStandardUserDefaults() {
    standard.synchronize()
    standard.search.renew(report: standard.report) { $0 = [] }
  }
}
