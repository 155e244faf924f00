#if !canImport(Darwin)
  import Foundation
  import SwiftData
  import Testing

  @Suite struct UndoManagerTests {
    /// A value that registers how to undo each change, as a document does.
    final class Document {
      private(set) var title = ""
      let undoManager: UndoManager

      init(_ undoManager: UndoManager) { self.undoManager = undoManager }

      func setTitle(_ title: String) {
        let old = self.title
        undoManager.registerUndo(withTarget: self) { $0.setTitle(old) }
        self.title = title
      }
    }

    let undoManager = UndoManager()
    let document: Document

    init() { document = Document(undoManager) }

    /// Each change in a group of its own, whatever the manager would do by itself.
    private func setTitle(_ title: String, named name: String = "") {
      undoManager.beginUndoGrouping()
      document.setTitle(title)
      undoManager.setActionName(name)
      undoManager.endUndoGrouping()
    }

    @Test func `undoes and redoes step by step`() {
      setTitle("one")
      setTitle("two")
      undoManager.undo()
      #expect(document.title == "one")
      undoManager.undo()
      #expect(document.title == "")
      #expect(!undoManager.canUndo && undoManager.canRedo)
      undoManager.redo()
      undoManager.redo()
      #expect(document.title == "two")
      #expect(undoManager.canUndo && !undoManager.canRedo)
      undoManager.undo()
      #expect(document.title == "one")
    }

    @Test func `does nothing with nothing to undo`() {
      undoManager.undo()
      undoManager.redo()
      #expect(!undoManager.canUndo && !undoManager.canRedo)
    }

    @Test func `opens a group for the first action and closes it with undo`() {
      document.setTitle("one")
      document.setTitle("two")
      #expect(undoManager.groupingLevel == 1 && undoManager.canUndo)
      undoManager.undo()
      #expect(document.title == "")
      #expect(undoManager.groupingLevel == 0)
    }

    @Test func `takes a group in a group as part of the outer step`() {
      undoManager.beginUndoGrouping()
      document.setTitle("one")
      setTitle("two")
      document.setTitle("three")
      undoManager.endUndoGrouping()
      #expect(undoManager.undoCount == 1)
      undoManager.undo()
      #expect(document.title == "")
      undoManager.redo()
      #expect(document.title == "three")
    }

    @Test func `undoes a nested group inside an open one`() {
      undoManager.beginUndoGrouping()
      document.setTitle("one")
      setTitle("two")
      undoManager.undoNestedGroup()
      #expect(document.title == "one")
      undoManager.endUndoGrouping()
      undoManager.undo()
      #expect(document.title == "")
    }

    @Test func `leaves no trace of a group without actions`() {
      undoManager.beginUndoGrouping()
      undoManager.endUndoGrouping()
      #expect(!undoManager.canUndo)
    }

    @Test func `forgets what could be redone when something new is done`() {
      setTitle("one")
      undoManager.undo()
      setTitle("other")
      #expect(!undoManager.canRedo)
      undoManager.undo()
      #expect(document.title == "")
    }

    @Test func `keeps no more steps than its levels`() {
      for number in 1...5 { setTitle("\(number)") }
      undoManager.levelsOfUndo = 2
      #expect(undoManager.undoCount == 2)
      setTitle("6")
      for _ in 0..<5 { undoManager.undo() }
      #expect(document.title == "4")
    }

    @Test func `knows what it is at`() {
      var phases: [String] = []
      func note(_ target: Document) {
        phases.append("\(undoManager.isUndoing) \(undoManager.isRedoing)")
        undoManager.registerUndo(withTarget: target, handler: note)
      }
      note(document)
      undoManager.undo()
      undoManager.redo()
      #expect(phases == ["false false", "true false", "false true"])
    }

    @Test func `names its steps`() {
      setTitle("one", named: "Typing")
      setTitle("two", named: "Pasting")
      #expect(undoManager.undoMenuItemTitle == "Undo Pasting")
      #expect(undoManager.redoMenuItemTitle == "Redo")
      undoManager.undo()
      #expect(undoManager.undoActionName == "Typing")
      #expect(undoManager.redoActionName == "Pasting")
      undoManager.redo()
      #expect(undoManager.undoActionName == "Pasting")
    }

    @Test func `takes nothing while registration is disabled`() {
      undoManager.disableUndoRegistration()
      undoManager.disableUndoRegistration()
      undoManager.enableUndoRegistration()
      document.setTitle("unseen")
      #expect(!undoManager.canUndo && !undoManager.isUndoRegistrationEnabled)
      undoManager.enableUndoRegistration()
      document.setTitle("seen")
      undoManager.undo()
      #expect(document.title == "unseen")
    }

    @Test func `forgets the actions of one target`() {
      let other = Document(undoManager)
      undoManager.beginUndoGrouping()
      document.setTitle("mine")
      other.setTitle("theirs")
      undoManager.endUndoGrouping()
      setTitle("mine again")
      undoManager.removeAllActions(withTarget: document)
      #expect(undoManager.undoCount == 1)
      undoManager.undo()
      #expect(document.title == "mine again")
      #expect(other.title == "")
    }

    @Test func `forgets everything`() {
      setTitle("one")
      undoManager.undo()
      document.setTitle("two")
      undoManager.disableUndoRegistration()
      undoManager.removeAllActions()
      #expect(!undoManager.canUndo && !undoManager.canRedo && undoManager.groupingLevel == 0)
      #expect(undoManager.isUndoRegistrationEnabled)
    }

    @Test func `holds no target`() {
      var calls = 0
      weak var gone: Document?
      do {
        let short = Document(undoManager)
        gone = short
        undoManager.registerUndo(withTarget: short) { _ in calls += 1 }
      }
      #expect(gone == nil)
      undoManager.undo()
      #expect(calls == 0)
    }

    @Test func `keeps whether a step is discardable`() {
      undoManager.beginUndoGrouping()
      document.setTitle("one")
      undoManager.setActionIsDiscardable(true)
      undoManager.endUndoGrouping()
      #expect(undoManager.undoActionIsDiscardable)
      undoManager.undo()
      #expect(undoManager.redoActionIsDiscardable && !undoManager.undoActionIsDiscardable)
    }

    @Test func `posts Foundation's notifications`() {
      nonisolated(unsafe) var names: [String] = []  // posted on this thread, while `post` waits
      let all: [Notification.Name] = [
        .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
        .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange,
        .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
      ]
      let observers = all.map { name in
        NotificationCenter.default.addObserver(forName: name, object: undoManager, queue: nil) {
          names.append($0.name.rawValue.dropFirst("NSUndoManager".count).description)
        }
      }
      defer { observers.forEach(NotificationCenter.default.removeObserver) }
      document.setTitle("one")
      undoManager.undo()
      let group = ["DidOpenUndoGroup", "WillCloseUndoGroup", "DidCloseUndoGroup"]
        .map { $0 + "Notification" }
      #expect(
        names == group + ["WillUndoChangeNotification"] + group + ["DidUndoChangeNotification"])
      names = []
      undoManager.redo()
      #expect(names == ["WillRedoChangeNotification"] + group + ["DidRedoChangeNotification"])
    }

    // Each of these ended the program.
    @Test func `calls that make no sense have no effect`() {
      undoManager.endUndoGrouping()
      undoManager.enableUndoRegistration()
      #expect(undoManager.groupingLevel == 0 && undoManager.isUndoRegistrationEnabled)
      setTitle("one")
      undoManager.beginUndoGrouping()
      undoManager.beginUndoGrouping()
      undoManager.undo()
      undoManager.redo()
      #expect(undoManager.groupingLevel == 2 && document.title == "one")
      undoManager.endUndoGrouping()
      undoManager.endUndoGrouping()
      undoManager.undo()
      #expect(document.title == "")
    }

    @Test func `an action outside all groups is a step of its own`() {
      undoManager.groupsByEvent = false
      document.setTitle("one")
      document.setTitle("two")
      #expect(undoManager.groupingLevel == 0 && undoManager.undoCount == 2)
      undoManager.undo()
      #expect(document.title == "one")
      undoManager.redo()
      #expect(document.title == "two")
    }

    // It ended the program, or the rest of the step was lost.
    @Test func `an action that undoes goes on with its own step`() {
      setTitle("one")
      undoManager.registerUndo(withTarget: document) { document in
        document.undoManager.undo()
        document.undoManager.redo()
        document.setTitle("from the action")
      }
      undoManager.undo()
      #expect(document.title == "from the action")
      undoManager.redo()
      #expect(document.title == "one")
      undoManager.undo()
      #expect(document.title == "from the action")
    }
  }
#endif
