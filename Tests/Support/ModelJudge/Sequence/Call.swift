/// An operation on the engine with its objects found: what a bug report shows.
public enum Call: Codable, Equatable, Sendable {
  case create(Int, Int, Kind, score: Int, name: Int?)
  case insert(Int, Int)
  /// Inserts an object that was deleted and saved; it is a new row, and has a new name here.
  case insertAgain(Int, Int, as: Int)
  case setOne(Int, Int, Link, Int?)
  case edit(Int, Int, Link, Edit)
  case set(Int, Int, attribute: Int, Int?)
  case delete(Int, Int)
  case deleteWhere(Int, Kind, Int, errors: [String])
  /// The errors that may come; none when the save succeeds.
  case save(Int, errors: [String])
  case transaction(Int, errors: [String])
  case rollback(Int)
  case process(Int)
  case fetch(Int, Kind, Query, [Int])
  case count(Int, Kind, Query, Int)
  /// What a relationship leads to. Reading loads it, which may be at another moment than a change.
  case read(Int, Int, Link, [Int])
  case beginGroup(Int)
  case endGroup(Int)
  case undo(Int)
  case redo(Int)
  case removeAllActions(Int)
  /// Drops Swift's references to objects, which are looked up by identifier from then on.
  case drop(Int, [Int])
  case newContext(Int)
  case reopen
  /// Another process that runs these calls on a context of its own, and ends or is killed.
  case worker([Call], killAfter: Int?)

  /// A change of a to-many relationship.
  public enum Edit: Codable, Equatable, Sendable {
    case append(Int)
    case insert(Int, at: Int)
    case remove(at: Int)
    case assign([Int])
    case swap(Int, Int)
    case sort
    case removeAll
  }

  public struct Query: Codable, Equatable, Sendable {
    /// Only objects with at least this score; nil for all.
    public var minimum: Int?
    public var isDescending = false
    /// False to see the store alone.
    public var seesPending = true
  }
}

extension Call {
  /// Whether another process says that it has done this.
  var isReportedSave: Bool {
    if case .save(_, errors: []) = self { true } else { false }
  }
}

extension Call: CustomStringConvertible {
  public var description: String {
    switch self {
    case .create(_, let number, let kind, let score, let name):
      let call = "let o\(number) = \(kind.rawValue)(number: \(number), score: \(score))"
      return name.map { "\(call); o\(number).name = \"\($0)\"" } ?? call
    case .insert(let context, let object): return "context\(context).insert(o\(object))"
    case .insertAgain(let context, let object, let name):
      return "let o\(name) = o\(object); context\(context).insert(o\(name))"
    case .setOne(let context, let object, let link, let target):
      return "o\(object).\(link) = \(target.map { "o\($0)" } ?? "nil")\(Self.mark(context))"
    case .edit(let context, let object, let link, let edit):
      return "o\(object).\(link)\(edit)\(Self.mark(context))"
    case .set(let context, let object, let attribute, let value):
      let text = value.map(String.init) ?? "nil"
      return "o\(object).[attribute \(attribute)] = \(text)\(Self.mark(context))"
    case .delete(let context, let object): return "context\(context).delete(o\(object))"
    case .deleteWhere(let context, let kind, let minimum, let errors):
      return "try context\(context).delete(model: \(kind.rawValue).self, where: "
        + "#Predicate { $0.score >= \(minimum) })\(Self.note(errors))"
    case .save(let context, let errors): return "try context\(context).save()\(Self.note(errors))"
    case .transaction(let context, let errors):
      return "try context\(context).transaction {}\(Self.note(errors))"
    default: return otherDescription
    }
  }

  private var otherDescription: String {
    switch self {
    case .rollback(let context): "context\(context).rollback()"
    case .process(let context): "context\(context).processPendingChanges()"
    case .fetch(let context, let kind, let query, _):
      "try context\(context).fetch(\(kind.rawValue), \(query))"
    case .count(let context, let kind, let query, _):
      "try context\(context).fetchCount(\(kind.rawValue), \(query))"
    case .read(let context, let object, let link, _):
      "_ = o\(object).\(link)\(Self.mark(context))"
    case .beginGroup(let context): "context\(context).undoManager?.beginUndoGrouping()"
    case .endGroup(let context): "context\(context).undoManager?.endUndoGrouping()"
    case .undo(let context): "context\(context).undoManager?.undo()"
    case .redo(let context): "context\(context).undoManager?.redo()"
    case .removeAllActions(let context): "context\(context).undoManager?.removeAllActions()"
    case .drop(let context, let objects):
      "// Drop the references to \(objects.map { "o\($0)" }.joined(separator: ", "))"
        + " of context\(context)."
    case .newContext(let context): "context\(context) = ModelContext(context\(context).container)"
    case .reopen: "// Open the store again with new containers and contexts."
    case .worker(let calls, let kill):
      "// Another process\(kill.map { ", killed after \($0) saves" } ?? ""):\n"
        + calls.map { "//   \($0)" }.joined(separator: "\n")
    default: ""
    }
  }

  /// Which context an object is of, unless it is the first one.
  private static func mark(_ context: Int) -> String {
    context == 0 ? "" : "  // in context\(context)"
  }

  private static func note(_ errors: [String]) -> String {
    errors.isEmpty ? "" : "  // throws \(errors.joined(separator: " or "))"
  }
}

extension Call.Edit: CustomStringConvertible {
  public var description: String {
    switch self {
    case .append(let target): ".append(o\(target))"
    case .insert(let target, let place): ".insert(o\(target), at: \(place))"
    case .remove(let place): ".remove(at: \(place))"
    case .assign(let targets): " = [\(targets.map { "o\($0)" }.joined(separator: ", "))]"
    case .swap(let left, let right): ".swapAt(\(left), \(right))"
    case .sort: ".sort { $0.number < $1.number }"
    case .removeAll: ".removeAll()"
    }
  }
}

extension Call.Query: CustomStringConvertible {
  public var description: String {
    (minimum.map { "where: { $0.score >= \($0) }, " } ?? "")
      + "sort: score \(isDescending ? "descending" : "ascending"), number"
      + (seesPending ? "" : ", includePendingChanges: false")
  }
}
