/// An operation before it meets objects: small numbers that mean something whatever exists, so that
/// any part of a sequence is a sequence.
public struct Step: Codable, Equatable, Sendable {
  public enum Action: String, CaseIterable, Codable, Sendable {
    case create, insert, insertAgain
    case setOne, append, insertAt, removeAt, assign, swap, sort, removeAll
    case set, setKey
    case delete, deleteWhere
    case save, rollback, process, transaction
    case fetch, fetchStored, count, read
    case beginGroup, endGroup, undo, redo
    case drop, newContext, reopen
    case worker, killedWorker
  }

  public var action: Action
  /// The context that acts.
  public var context = 0
  public var a = 0
  public var b = 0
  public var c = 0
  public var d = 0
}

extension Step: CustomStringConvertible {
  public var description: String { "\(action)(\(context), \(a), \(b), \(c), \(d))" }
}
