#if !canImport(Darwin)
  public import Foundation

  /// What has been done, so that it can be undone and done again: Foundation's class of this name,
  /// which Linux lacks.
  ///
  /// ```swift
  /// func setTitle(_ title: String) {
  ///   let old = task.title
  ///   undoManager.registerUndo(withTarget: self) { $0.setTitle(old) }
  ///   task.title = title
  /// }
  /// ```
  ///
  /// Actions are kept in groups, and a group is undone as one. There is no run loop here whose turns
  /// could mark the groups, so with ``groupsByEvent`` a group that the first action opens is closed by
  /// ``endUndoGrouping()``, by ``undo()``, or by the context that registers with this manager, at the
  /// end of `processPendingChanges()`. A group that ``beginUndoGrouping()`` opens outside all others is
  /// a step of its own. Registering by selector needs the Objective-C runtime and is absent.
  ///
  /// A manager is no more than its actions are: use it where its targets live. The targets are held
  /// weakly, what the handlers capture is held.
  open class UndoManager: NSObject {
    private enum Phase { case registering, undoing, redoing }

    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// The groups that are open, the innermost last.
    private var openGroups: [UndoGroup] = []
    private var isEventGroupOpen = false
    private var phase = Phase.registering
    private var disableCount = 0

    /// Whether an action that is registered outside a group opens one; true to begin with.
    open var groupsByEvent = true

    /// How many steps are kept, the oldest going first; 0, as to begin with, is no limit.
    open var levelsOfUndo = 0 {
      didSet { dropOldest() }
    }

    /// How many groups are open, one inside the other.
    open var groupingLevel: Int { openGroups.count }

    /// Whether actions are taken, which ``disableUndoRegistration()`` ends for a time.
    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Whether ``undo()`` is at work.
    open var isUndoing: Bool { phase == .undoing }

    /// Whether ``redo()`` is at work.
    open var isRedoing: Bool { phase == .redoing }

    /// How many steps can be undone.
    open var undoCount: Int { undoStack.count + (hasOpenActions && phase != .undoing ? 1 : 0) }

    /// How many steps can be done again.
    open var redoCount: Int { redoStack.count }

    /// Whether there is something to undo.
    open var canUndo: Bool { undoCount > 0 }

    /// Whether there is something to do again.
    open var canRedo: Bool {
      post(.NSUndoManagerCheckpoint)
      return redoCount > 0
    }

    private var hasOpenActions: Bool { openGroups.contains { !$0.isEmpty } }

    /// Opens a group; what is registered until it is closed is undone as one.
    open func beginUndoGrouping() {
      if groupingLevel > 0 { post(.NSUndoManagerCheckpoint) }
      openGroups.append(UndoGroup())
      post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Closes the innermost open group; one in which nothing was registered leaves no trace.
    ///
    /// To call it with no group open is a programmer's error, and stops the program as it does on
    /// Apple's systems.
    open func endUndoGrouping() {
      post(.NSUndoManagerCheckpoint)
      post(
        .NSUndoManagerWillCloseUndoGroup,
        [NSUndoManagerGroupIsDiscardableKey: openGroups.last?.isDiscardable ?? false])
      guard let group = openGroups.popLast() else {
        preconditionFailure("endUndoGrouping() was called with no undo group open.")
      }
      if openGroups.isEmpty { isEventGroupOpen = false }
      if !group.isEmpty { add(group) }
      post(.NSUndoManagerDidCloseUndoGroup)
    }

    private func add(_ group: UndoGroup) {
      if let outer = openGroups.last {
        outer.entries.append(.group(group))
      } else if phase == .undoing {
        redoStack.append(group)
      } else {
        undoStack.append(group)
        dropOldest()
      }
    }

    private func dropOldest() {
      guard levelsOfUndo > 0 else { return }
      undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
      redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
    }

    /// Ends what would be a run loop's turn: closes the group that a registration opened by itself.
    func closeEventGroup() {
      guard isEventGroupOpen, groupingLevel == 1, phase == .registering else { return }
      endUndoGrouping()
    }

    /// Takes no more actions until ``enableUndoRegistration()`` is called as often as this was.
    open func disableUndoRegistration() { disableCount += 1 }

    /// Takes actions again; to call it more often than ``disableUndoRegistration()`` stops the program.
    open func enableUndoRegistration() {
      precondition(disableCount > 0, "enableUndoRegistration() was called too often.")
      disableCount -= 1
    }

    /// Keeps what will undo a change that is being made.
    ///
    /// While the manager undoes, the action becomes one to do again. A new action otherwise clears
    /// what could be done again. With ``groupsByEvent`` false and no group open it is a programmer's
    /// error, and stops the program as it does on Apple's systems.
    ///
    /// - Parameters:
    ///   - target: What the handler gets; held weakly, and once it is gone the action does nothing.
    ///   - handler: Undoes the change, and registers the action that makes it again.
    open func registerUndo<TargetType: AnyObject>(
      withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
      guard isUndoRegistrationEnabled else { return }
      if openGroups.isEmpty {
        precondition(groupsByEvent, "An undo group must be open before an action is registered.")
        beginUndoGrouping()
        isEventGroupOpen = true
      }
      if phase == .registering { redoStack.removeAll() }
      let perform = { [weak target] in
        if let target { handler(target) }
      }
      openGroups.last?.entries.append(.action(UndoAction(target: target, perform: perform)))
    }

    /// Closes the open group, if there is one, and undoes the last step; does nothing without one.
    ///
    /// To call it with groups open inside each other is a programmer's error, and stops the program.
    open func undo() {
      if groupingLevel == 1, phase == .registering { endUndoGrouping() }
      precondition(groupingLevel == 0, "undo() was called with undo groups open in each other.")
      undoNestedGroup()
    }

    /// Undoes the last group: outside all groups as ``undo()`` does, inside one the last nested one.
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

    /// Does again what was undone last; does nothing where nothing was.
    ///
    /// To call it with a group open is a programmer's error, and stops the program.
    open func redo() {
      precondition(groupingLevel == 0, "redo() was called with an undo group open.")
      post(.NSUndoManagerCheckpoint)
      guard let group = redoStack.popLast() else { return }
      post(.NSUndoManagerWillRedoChange)
      perform(group, as: .redoing)
      post(.NSUndoManagerDidRedoChange)
    }

    private func perform(_ group: UndoGroup, as newPhase: Phase) {
      // What the handlers register must not end up in a group that is open around the one undone.
      let outerGroups = openGroups
      (openGroups, phase) = ([], newPhase)
      beginUndoGrouping()
      openGroups.last?.actionName = group.actionName
      openGroups.last?.isDiscardable = group.isDiscardable
      group.perform()
      // A handler may have left groups open; their actions belong to this step.
      while groupingLevel > 0 { endUndoGrouping() }
      (openGroups, phase) = (outerGroups, .registering)
    }

    /// Forgets all actions, closes all groups, and takes actions again.
    open func removeAllActions() {
      undoStack = []
      redoStack = []
      openGroups = []
      isEventGroupOpen = false
      disableCount = 0
    }

    /// Forgets the actions of one target, in open groups as well.
    open func removeAllActions(withTarget target: Any) {
      // On Linux a cast to AnyObject boxes what is no object, and no action has such a target.
      let object = target as AnyObject
      for group in undoStack + redoStack + openGroups { group.removeActions(of: object) }
      undoStack.removeAll(where: \.isEmpty)
      redoStack.removeAll(where: \.isEmpty)
    }

    private var undoGroup: UndoGroup? {
      phase == .undoing || !hasOpenActions ? undoStack.last : openGroups.first
    }

    /// What the last step is called, for a menu: empty when it has no name or there is none.
    open var undoActionName: String { undoGroup?.actionName ?? "" }

    /// What the step that can be done again is called.
    open var redoActionName: String { redoStack.last?.actionName ?? "" }

    /// Names the step that is being registered, or the last one when no group is open.
    open func setActionName(_ actionName: String) {
      (openGroups.first ?? undoStack.last)?.actionName = actionName
    }

    /// Says that the step may be thrown away without a question, such as a scroll position.
    open func setActionIsDiscardable(_ discardable: Bool) {
      (openGroups.first ?? undoStack.last)?.isDiscardable = discardable
    }

    /// Whether the last step was said to be discardable.
    open var undoActionIsDiscardable: Bool { undoGroup?.isDiscardable ?? false }

    /// Whether the step that can be done again was said to be discardable.
    open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

    /// "Undo" with the last step's name, in English.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// "Redo" with the name of the step that can be done again, in English.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// "Undo" with a name, in English.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
      actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// "Redo" with a name, in English.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
      actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    private func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
      NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
  }
#endif
