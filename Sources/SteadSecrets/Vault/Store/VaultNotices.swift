import SteadFiles

/// Problems with the files that reveal a vault that was rolled back or replaced.
///
/// The vault works without them, so no call throws. They are noted where they occur, which may be under the vault's
/// lock, and reported once it is free: the handler may use the vault. Each file's problem is reported once, and again
/// only if the file could be written meanwhile.
enum VaultNotices {
  private struct State {
    var waiting: [Stead.Problem] = []
    /// The files whose problem was noted.
    var told: Set<String> = []
  }

  private static let state = ForkSafeLock(State())

  /// - Parameter lack: What goes unnoticed while the file cannot be written.
  static func note(_ error: any Error, at path: String, lack: String) {
    let remedy =
      (error as? FileError)?.code == .busy
      ? "Resume or end the program that has it locked."
      : "Make its directory writable, or set XDG_STATE_HOME to one that is."
    let problem = Stead.Problem(
      code: .rollbackUnnoticed, product: .secrets, subject: path,
      message: "\(lack), because this file cannot be written. \(remedy)",
      cause: error)
    state.withLock { state in
      if state.told.insert(path).inserted { state.waiting.append(problem) }
    }
  }

  static func noteSuccess(at path: String) { state.withLock { _ = $0.told.remove(path) } }

  /// Reports what was noted. Never called under a lock.
  static func deliver() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for problem in waiting { Stead.report(problem) }
  }
}

extension Stead.Problem.Code {
  /// The files that reveal a vault that was rolled back or replaced cannot be written. The vault works, but an older
  /// copy of it, or another vault in its place, may go unnoticed.
  public static let rollbackUnnoticed = Self("rollbackUnnoticed")
}
