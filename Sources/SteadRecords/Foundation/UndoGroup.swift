#if !canImport(Darwin)
  /// Actions that are undone together, in the order in which they were registered.
  final class UndoGroup {
    enum Entry {
      case action(UndoAction)
      case group(UndoGroup)
    }

    var entries: [Entry] = []
    var actionName = ""
    var isDiscardable = false

    var isEmpty: Bool { entries.isEmpty }

    /// The last thing done is undone first.
    func perform() {
      for entry in entries.reversed() {
        switch entry {
        case .action(let action): action.perform()
        case .group(let group): group.perform()
        }
      }
    }

    func removeActions(of target: AnyObject) {
      entries.removeAll { entry in
        switch entry {
        case .action(let action):
          return action.target === target
        case .group(let group):
          group.removeActions(of: target)
          return group.isEmpty
        }
      }
    }

    /// Takes out the last entry if it is a group.
    func popLastGroup() -> UndoGroup? {
      guard case .group(let group)? = entries.last else { return nil }
      entries.removeLast()
      return group
    }
  }

  /// What undoes one change.
  struct UndoAction {
    weak var target: AnyObject?
    let perform: () -> Void
  }
#endif
