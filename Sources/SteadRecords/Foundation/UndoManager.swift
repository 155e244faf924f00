#if !canImport(Darwin)
  public import Foundation

  /// Records actions so that they can be undone and redone: Foundation's class of this name, which Linux lacks.
  ///
  /// ```swift
  /// func setTitle(_ title: String) {
  ///   let old = task.title
  ///   undoManager.registerUndo(withTarget: self) { $0.setTitle(old) }
  ///   task.title = title
  /// }
  /// ```
  ///
  /// Actions are kept in groups, and a group is undone as a whole. Linux has no run loop whose turns could mark the
  /// groups. So with ``groupsByEvent``, a group that the first action opens is closed by ``endUndoGrouping()``, by
  /// ``undo()``, or by the context that registers with this manager, at the end of `processPendingChanges()`. A group
  /// that ``beginUndoGrouping()`` opens outside all others is a separate step. Registering by selector needs the
  /// Objective-C runtime and is absent.
  ///
  /// A manager is only as Sendable as its actions: use it where its targets live. It holds the targets weakly, and what
  /// the handlers capture strongly.
  open class UndoManager: NSObject {
    private enum Phase { case registering, undoing, redoing }

    /// The groups that can be undone, the last one last.
    private var undoStack: [UndoGroup] = []
    /// The groups that can be redone, the one undone last at the end.
    private var redoStack: [UndoGroup] = []
    /// The groups that are open, the innermost last.
    private var openGroups: [UndoGroup] = []
    /// Whether the outermost open group was opened by a registration, so that it closes with the event.
    private var isEventGroupOpen = false
    /// What an action is registered for: to be undone, or while undoing to be redone.
    private var phase = Phase.registering
    /// How many calls of ``disableUndoRegistration()`` are not undone yet.
    private var disableCount = 0

    /// Whether an action that is registered outside a group opens one; true by default.
    open var groupsByEvent = true

    /// How many steps are kept, dropping the oldest first; 0, the default, means no limit.
    ///
    /// A group counts as one step, whatever is in it.
    open var levelsOfUndo = 0 {
      didSet { dropOldest() }
    }

    /// How many nested groups are open.
    open var groupingLevel: Int { openGroups.count }

    /// Whether actions are recorded, which ``disableUndoRegistration()`` suspends.
    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Whether ``undo()`` is running.
    open var isUndoing: Bool { phase == .undoing }

    /// Whether ``redo()`` is running.
    open var isRedoing: Bool { phase == .redoing }

    /// How many steps can be undone. An open group with actions counts as one.
    open var undoCount: Int { undoStack.count + (hasOpenActions && phase != .undoing ? 1 : 0) }

    /// How many steps can be redone.
    open var redoCount: Int { redoStack.count }

    /// Whether there is something to undo, open groups included.
    open var canUndo: Bool { undoCount > 0 }

    /// Whether there is something to redo.
    open var canRedo: Bool {
      post(.NSUndoManagerCheckpoint)
      return redoCount > 0
    }

    /// Whether an open group has an action, so that it will be a step when it closes.
    private var hasOpenActions: Bool { openGroups.contains { !$0.isEmpty } }

    // MARK: - Groups

    /// Opens a group; what is registered until it is closed is undone together.
    ///
    /// ```swift
    /// undoManager.beginUndoGrouping()
    /// for task in selection { setDone(task) }    // each registers an action
    /// undoManager.setActionName("Complete Tasks")
    /// undoManager.endUndoGrouping()
    /// ```
    open func beginUndoGrouping() {
      if groupingLevel > 0 { post(.NSUndoManagerCheckpoint) }
      openGroups.append(UndoGroup())
      post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Closes the innermost open group; an empty one leaves no trace.
    ///
    /// Calling it with no open group is a programmer's error: it is reported to `Stead.onProblem` and has no effect,
    /// while Apple's raises an exception.
    open func endUndoGrouping() {
      guard groupingLevel > 0 else {
        return Self.report(
          "endUndoGrouping() was called with no undo group open. Begin one before.")
      }
      post(.NSUndoManagerCheckpoint)
      post(
        .NSUndoManagerWillCloseUndoGroup,
        [NSUndoManagerGroupIsDiscardableKey: openGroups.last?.isDiscardable ?? false])
      // An observer may have closed it.
      guard let group = openGroups.popLast() else { return }
      if openGroups.isEmpty { isEventGroupOpen = false }
      if !group.isEmpty { add(group) }
      post(.NSUndoManagerDidCloseUndoGroup)
    }

    /// Puts a closed group into the one around it, or on the stack of the phase.
    private func add(_ group: UndoGroup) {
      // A nested group is part of the one around it, and becomes a step only with that one.
      if let outer = openGroups.last {
        outer.entries.append(.group(group))
      } else if phase == .undoing {
        redoStack.append(group)
      } else {
        undoStack.append(group)
        dropOldest()
      }
    }

    /// Drops the oldest steps above the limit.
    private func dropOldest() {
      guard levelsOfUndo > 0 else { return }
      undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
      redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
    }

    /// Closes the group that a registration has opened, as the end of a run loop's turn does on Apple's systems.
    func closeEventGroup() {
      // A group that the program has opened stays open: it decides where its step ends.
      guard isEventGroupOpen, groupingLevel == 1, phase == .registering else { return }
      endUndoGrouping()
    }

    // MARK: - Registering

    /// Stops recording actions until ``enableUndoRegistration()`` is called as often as this was.
    ///
    /// ```swift
    /// undoManager.disableUndoRegistration()
    /// defer { undoManager.enableUndoRegistration() }
    /// ```
    ///
    /// Changes that are made meanwhile cannot be undone, and an earlier action may find other
    /// values than it expects.
    open func disableUndoRegistration() { disableCount += 1 }

    /// Records actions again. Calling it more often than ``disableUndoRegistration()`` is reported, and has no effect.
    open func enableUndoRegistration() {
      guard disableCount > 0 else {
        return Self.report(
          "enableUndoRegistration() was called more often than disableUndoRegistration(). Pair them."
        )
      }
      disableCount -= 1
    }

    /// Registers an action that undoes the current change.
    ///
    /// While the manager undoes, the action becomes one to redo. Otherwise, a new action clears what could be redone.
    /// With ``groupsByEvent`` false and no open group, the action becomes a step of its own; Apple's raises an
    /// exception.
    ///
    /// - Parameters:
    ///   - target: Passed to the handler; held weakly, and once it is gone the action does nothing.
    ///   - handler: Undoes the change, and registers the action that redoes it.
    open func registerUndo<TargetType: AnyObject>(
      withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
      guard isUndoRegistrationEnabled else { return }
      let isOwnStep = openGroups.isEmpty && !groupsByEvent
      if openGroups.isEmpty {
        beginUndoGrouping()
        isEventGroupOpen = !isOwnStep
      }
      // A new change makes what was undone unreachable.
      if phase == .registering { redoStack.removeAll() }
      // The target's type is known here alone; the group keeps a closure without parameters.
      let perform = { [weak target] in
        if let target { handler(target) }
      }
      openGroups.last?.entries.append(.action(UndoAction(target: target, perform: perform)))
      if isOwnStep { endUndoGrouping() }
    }

    // MARK: - Undoing and redoing

    /// Closes the open group, if there is one, and undoes the last step; does nothing if there is none.
    ///
    /// Calling it with nested groups open, or from an action, is a programmer's error: it is reported, and has no
    /// effect.
    open func undo() {
      // The open group is the last step. Without closing it, the step before it would be undone
      // under it.
      if groupingLevel == 1, phase == .registering { endUndoGrouping() }
      guard groupingLevel == 0, phase == .registering else {
        return Self.report(
          "undo() was called with undo groups open, or from an action. End the groups before.")
      }
      undoNestedGroup()
    }

    /// Undoes the last group: outside all groups as ``undo()`` does, inside a group the last nested one.
    open func undoNestedGroup() {
      post(.NSUndoManagerCheckpoint)
      let group: UndoGroup?
      if let open = openGroups.last {
        group = open.popLastGroup()
      } else {
        group = undoStack.popLast()
      }
      guard let group else { return }
      post(.NSUndoManagerWillUndoChange)
      perform(group, as: .undoing)
      post(.NSUndoManagerDidUndoChange)
    }

    /// Redoes what was undone last; does nothing if nothing was.
    ///
    /// Calling it with a group open, or from an action, is a programmer's error: it is reported, and has no effect.
    open func redo() {
      // What opened it has cleared what could be redone.
      closeEventGroup()
      guard groupingLevel == 0, phase == .registering else {
        return Self.report(
          "redo() was called with an undo group open, or from an action. End the group before.")
      }
      post(.NSUndoManagerCheckpoint)
      guard let group = redoStack.popLast() else { return }
      post(.NSUndoManagerWillRedoChange)
      perform(group, as: .redoing)
      post(.NSUndoManagerDidRedoChange)
    }

    /// Runs a group's actions, and collects what they register into one group of the opposite stack.
    private func perform(_ group: UndoGroup, as newPhase: Phase) {
      // Actions that the handlers register must not end up in a group that is open around the one undone.
      let outer = (openGroups, phase)
      (openGroups, phase) = ([], newPhase)
      beginUndoGrouping()
      openGroups.last?.actionName = group.actionName
      openGroups.last?.isDiscardable = group.isDiscardable
      group.perform()
      // A handler may have left groups open; their actions belong to this step.
      while groupingLevel > 0 { endUndoGrouping() }
      (openGroups, phase) = outer
    }

    // MARK: - Removing actions

    /// Forgets all actions, closes all groups, and records actions again.
    open func removeAllActions() {
      undoStack = []
      redoStack = []
      openGroups = []
      isEventGroupOpen = false
      disableCount = 0
    }

    /// Forgets the actions of one target, in open groups as well.
    ///
    /// Call it when the target is about to become useless without being released. Costs a look at
    /// each action.
    open func removeAllActions(withTarget target: Any) {
      // On Linux a cast to AnyObject boxes a value that isn't an object, and no action has such a target.
      let object = target as AnyObject
      for group in undoStack + redoStack + openGroups { group.removeActions(of: object) }
      undoStack.removeAll(where: \.isEmpty)
      redoStack.removeAll(where: \.isEmpty)
    }

    // MARK: - Names

    /// The group that ``undo()`` would undo.
    private var undoGroup: UndoGroup? {
      phase == .undoing || !hasOpenActions ? undoStack.last : openGroups.first
    }

    /// The name of the last step, for a menu: empty if it has no name or there is none.
    open var undoActionName: String { undoGroup?.actionName ?? "" }

    /// The name of the step that can be redone.
    open var redoActionName: String { redoStack.last?.actionName ?? "" }

    /// Names the step that is being registered, or the last one if no group is open.
    ///
    /// The name is for ``undoMenuItemTitle``; a redone step keeps it.
    open func setActionName(_ actionName: String) {
      (openGroups.first ?? undoStack.last)?.actionName = actionName
    }

    /// Marks the step as discardable without asking the user, such as a scroll position.
    open func setActionIsDiscardable(_ discardable: Bool) {
      (openGroups.first ?? undoStack.last)?.isDiscardable = discardable
    }

    /// Whether the last step is marked as discardable.
    open var undoActionIsDiscardable: Bool { undoGroup?.isDiscardable ?? false }

    /// Whether the step that can be redone is marked as discardable.
    open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

    /// "Undo" with the last step's name, in English.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// "Redo" with the name of the step that can be redone, in English.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// "Undo" with a name, in English.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
      actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// "Redo" with a name, in English.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
      actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    // MARK: - Reports and notifications

    /// Reports a programmer's error for which Apple's class raises an exception.
    private static func report(_ message: String) {
      Report.problem(.recordsFailed, subject: "UndoManager", message: message)
    }

    private func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
      NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
  }

  // MARK: - Groups

  /// Actions that are undone together.
  ///
  /// Groups can be nested as deeply as a program likes, so they are walked with a list of groups to visit, never by
  /// recursion, which could overflow the stack. That holds for their release, too.
  final class UndoGroup {
    /// An action, or a nested group.
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
        // Its own `deinit` then finds nothing to do, and the depth of the stack stays the same.
        group.entries = []
      }
    }

    /// Runs the actions, the last one first.
    func perform() {
      var rest = entries
      while let entry = rest.popLast() {
        switch entry {
        case .action(let action): action.perform()
        // Onto the list, whose end is next: the nested group's actions run before those that were
        // registered before it.
        case .group(let group): rest += group.entries
        }
      }
    }

    /// Removes the actions of a target, and nested groups that are empty then.
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

    /// Removes the last entry if it is a group, and returns it.
    func popLastGroup() -> UndoGroup? {
      guard case .group(let group)? = entries.last else { return nil }
      entries.removeLast()
      return group
    }
  }

  /// An action that undoes one change, with the object that it changes.
  struct UndoAction {
    /// Only for ``UndoManager/removeAllActions(withTarget:)``: the closure has its own weak
    /// reference.
    weak var target: AnyObject?
    let perform: () -> Void
  }

  // MARK: - Notifications

  /// In the notifications of closing groups: whether the group is discardable, a `Bool`.
  public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

  extension Notification.Name {
    /// A nested group is about to be opened, a group was closed, or something was undone or redone.
    public static let NSUndoManagerCheckpoint = Self("NSUndoManagerCheckpointNotification")
    /// A group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = Self(
      "NSUndoManagerDidOpenUndoGroupNotification")
    /// A group is about to be closed.
    public static let NSUndoManagerWillCloseUndoGroup = Self(
      "NSUndoManagerWillCloseUndoGroupNotification")
    /// A group was closed.
    public static let NSUndoManagerDidCloseUndoGroup = Self(
      "NSUndoManagerDidCloseUndoGroupNotification")
    /// A step is about to be undone.
    public static let NSUndoManagerWillUndoChange = Self("NSUndoManagerWillUndoChangeNotification")
    /// A step was undone.
    public static let NSUndoManagerDidUndoChange = Self("NSUndoManagerDidUndoChangeNotification")
    /// A step is about to be redone.
    public static let NSUndoManagerWillRedoChange = Self("NSUndoManagerWillRedoChangeNotification")
    /// A step was redone.
    public static let NSUndoManagerDidRedoChange = Self("NSUndoManagerDidRedoChangeNotification")
  }
#endif
