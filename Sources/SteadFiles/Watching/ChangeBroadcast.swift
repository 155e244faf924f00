/// Delivers every change to the mailboxes of all iterators.
final class ChangeBroadcast: Sendable {
  private struct Entry { weak var mailbox: ChangeMailbox? }
  private struct State {
    var entries: [Entry] = []
    /// Collects the changes before the first iterator, which gets it.
    var first: ChangeMailbox?
    var isOver = false
  }
  private let state: ForkSafeLock<State>

  init() {
    let first = ChangeMailbox()
    state = ForkSafeLock(State(entries: [Entry(mailbox: first)], first: first))
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  func makeMailbox() -> ChangeMailbox {
    let (mailbox, isOver) = state.withLock { state in
      if let first = state.first {
        state.first = nil
        return (first, state.isOver)
      }
      let mailbox = ChangeMailbox()
      state.entries.append(Entry(mailbox: mailbox))
      return (mailbox, state.isOver)
    }
    if isOver { mailbox.finish() }
    return mailbox
  }

  func post(_ changes: FileWatcher.Changes, isLast: Bool) {
    for mailbox in mailboxes(isOver: isLast) {
      mailbox.post(changes)
      if isLast { mailbox.finish() }
    }
  }

  func finish() {
    for mailbox in mailboxes(isOver: true) { mailbox.finish() }
  }

  // A mailbox has a lock of its own, so it is called after this one is released.
  private func mailboxes(isOver: Bool) -> [ChangeMailbox] {
    state.withLock { state in
      if isOver { state.isOver = true }
      state.entries.removeAll { $0.mailbox == nil }
      return state.entries.compactMap(\.mailbox)
    }
  }
}
