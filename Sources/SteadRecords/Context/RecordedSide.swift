import Foundation
import Synchronization

/// What one side of a relationship held before a step changed it, and afterwards.
///
/// Undo goes through a context's states backwards, so each side gets what it held, with its order, and no inverse is
/// searched for. Others may have committed in between. So undo takes back what the step did, and keeps the rest.
///
/// A step that changes a side several times has one of these, whose difference is that of the whole step: what it
/// added and removed again is not its own any more if another context adds it. Where others' commits arrive in
/// between, it has two for each side, which undo goes through one after the other.
final class RecordedSide {
  enum Content {
    case reference(_Target, list: Int?)
    case members([AnyObject])
  }

  let model: any PersistentModel
  let index: Int
  let before: Content
  /// What it held as the latest change ended; what it held before, as long as that is not known.
  private var held: Content
  /// Deleted objects that are still there, and that the save takes away; nil for everything, with the owner.
  private var cut: Set<ObjectIdentifier>? = []
  private var changeCount = 0
  /// The number of saves that had succeeded when this context changed the side of a stored object for the first time since
  /// the last one; nil if the change was a later one.
  let base: Int?
  /// Members that the step has changed, and others, too: undo leaves these as others have them.
  var others: Set<ObjectIdentifier> = []

  init(
    _ model: any PersistentModel, _ index: Int, _ before: Content, after: Content? = nil,
    base: Int? = nil
  ) {
    (self.model, self.index, self.before, held) = (model, index, before, after ?? before)
    self.base = base
  }

  /// What the step made of it, with what a save of its deletions has taken away.
  ///
  /// - Parameter current: What the side holds. A deleted object in it was not taken away: no save has come to it.
  func after(_ current: @autoclosure () -> Content?) -> Content {
    cut?.isEmpty == true ? held : held.without(cut, but: current())
  }

  /// Whether the step's last change gave back what its first one took.
  ///
  /// - Parameter after: What the step made of the side.
  func isWithoutEffect(_ after: Content) -> Bool { changeCount > 1 && before.isSame(as: after) }

  func end(with content: Content) { held = content }

  /// Notes a deleted object that the save takes away; nil if the owner is deleted.
  func addCut(_ target: (any PersistentModel)?) {
    if let target { cut?.insert(ObjectIdentifier(target)) } else { cut = nil }
  }

  /// Notes the deleted objects that it holds, which may have been linked since their deletion, by no rule of it.
  ///
  /// Costs a look at each member.
  func addCuts() {
    if model.has(_ModelFlags.deleted) { return addCut(nil) }
    switch held {
    case .members(let members):
      for case let member as any PersistentModel in members where member.has(_ModelFlags.deleted) {
        addCut(member)
      }
    case .reference(.model(let target), _) where target.has(_ModelFlags.deleted): addCut(target)
    case .reference: break
    }
  }

  /// The number of a further change.
  func countChange() -> Int {
    changeCount += 1
    return changeCount - 1
  }

  /// Whether undo restores the side where it comes to a change.
  ///
  /// At the last change, which it comes to first: objects that the step has inserted are still here, and redo, which
  /// comes to it last, has them again. And at the first one: deletions that were undone in between may have changed it.
  func isRestored(at change: Int) -> Bool { change == 0 || change == changeCount - 1 }
}

extension RecordedSide.Content {
  /// The same without some objects, or without all if they are nil; what another content has stays.
  func without(_ objects: Set<ObjectIdentifier>?, but other: Self? = nil) -> Self {
    switch self {
    case .members(let members):
      var kept: Set<ObjectIdentifier> = []
      if case .members(let others) = other { kept = Set(others.map(ObjectIdentifier.init)) }
      return .members(
        members.filter {
          let id = ObjectIdentifier($0)
          return objects?.contains(id) == false || kept.contains(id)
        })
    case .reference(.model(let target), _)
    where objects?.contains(ObjectIdentifier(target)) == false:
      return self
    case .reference: return other.map(isSame) == true ? self : .reference(.none, list: nil)
    }
  }

  fileprivate func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.members(let own), .members(let other)):
      // Mostly the very array, which takes no time.
      own.withUnsafeBufferPointer { own in
        other.withUnsafeBufferPointer { other in
          own.count == other.count
            && (own.baseAddress == other.baseAddress || own.elementsEqual(other, by: ===))
        }
      }
    case (.reference(let own, let list), .reference(let other, let otherList)):
      list == otherList && own.isSame(as: other)
    default: false
    }
  }
}

extension _Target {
  fileprivate func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.none, .none): true
    case (.row(let own), .row(let other)): own == other
    case (.model(let own), .model(let other)): own === other
    default: false
    }
  }
}

// MARK: - Steps

/// The sides that the current step has changed, by place.
///
/// A step ends with its group of the undo manager, or with a group in it, which can be undone alone, and with a save:
/// undo restores what waits for a deleted object as of the save of its deletion. It also ends where a deletion is taken
/// back: undo of that deletes again, and cuts by the rules what is restored afterwards. And it ends where sides change
/// that are not recorded, by others' commits or while registration is off: for all sides at once, since both sides of a
/// link must be taken back by the same changes.
struct StepSides {
  struct Period: Equatable {
    let groups: Int
    let saves: Int
    let epoch: ObjectIdentifier
  }

  /// Held by the actions alone: with those that a program has dropped from its manager, a step ends, too.
  private struct Entry {
    weak var side: RecordedSide?
  }

  private var period: Period?
  private var entries: [UndoRecorder.Place: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }
  var all: [RecordedSide] { entries.values.compactMap(\.side) }

  func isOf(_ period: Period) -> Bool { period == self.period }

  func side(at place: UndoRecorder.Place, in period: Period) -> RecordedSide? {
    isOf(period) ? entries[place]?.side : nil
  }

  mutating func add(_ side: RecordedSide, at place: UndoRecorder.Place, in period: Period) {
    if !isOf(period) { (self.period, entries) = (period, [:]) }
    entries[place] = Entry(side: side)
  }
}

/// Counts where groups of an undo manager begin and end, which Foundation's manager tells by notifications alone.
final class UndoGroupCounter {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)
    let reversals = Atomic<Int>(0)
  }

  private let count = Count()
  private let observers: [any NSObjectProtocol]

  var value: Int { count.value.load(ordering: .relaxed) }
  /// How often something was undone or redone.
  var reversals: Int { count.reversals.load(ordering: .relaxed) }

  init(_ manager: UndoManager) {
    let names: [Notification.Name] = [
      .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerDidCloseUndoGroup,
      .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
      .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
    ]
    observers = names.map { [count] name in
      let begins = name == .NSUndoManagerWillUndoChange || name == .NSUndoManagerWillRedoChange
      return NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
        _ in
        count.value.add(1, ordering: .relaxed)
        if begins { count.reversals.add(1, ordering: .relaxed) }
      }
    }
  }

  deinit {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }
}
