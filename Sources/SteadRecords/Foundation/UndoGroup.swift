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

    // A program may nest groups as deeply as it likes: one after the other and never one inside the other.

    deinit {
      var rest = entries
      while let entry = rest.popLast() {
        guard case .group(let group) = entry else { continue }
        rest += group.entries
        group.entries = []
      }
    }

    /// The last thing done is undone first.
    func perform() {
      var rest = entries
      while let entry = rest.popLast() {
        switch entry {
        case .action(let action): action.perform()
        case .group(let group): rest += group.entries
        }
      }
    }

    func removeActions(of target: AnyObject) {
      var groups = [self]
      var next = 0
      while next < groups.count {
        for case .group(let group) in groups[next].entries { groups.append(group) }
        next += 1
      }
      // A group is after the one that has it.
      for group in groups.reversed() {
        group.entries.removeAll { entry in
          switch entry {
          case .action(let action): action.target === target
          case .group(let group): group.isEmpty
          }
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
