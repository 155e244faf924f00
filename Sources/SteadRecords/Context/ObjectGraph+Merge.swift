import Foundation
import Observation
import Synchronization

/// What a commit changed in one store.
struct StoreChanges: Sendable {
  let store: RecordStore.Identity
  /// Inserted, updated and deleted rows by table; nil when another process made the commit.
  var rows: [String: Set<Int64>]?
}

/// Tells all contexts on the same stores of each other's commits.
final class StoreExchange: Sendable {
  static let shared = StoreExchange()

  private struct WeakInbox: Sendable {
    weak var inbox: ChangeInbox?
  }

  private let inboxes = Mutex<[WeakInbox]>([])

  func add(_ inbox: ChangeInbox) {
    inboxes.withLock { inboxes in
      inboxes.removeAll { $0.inbox == nil }
      inboxes.append(WeakInbox(inbox: inbox))
    }
  }

  func post(_ changes: StoreChanges, from sender: ChangeInbox?) {
    let receivers = inboxes.withLock { $0.compactMap(\.inbox) }
    for inbox in receivers where inbox !== sender { inbox.receive(changes) }
    sender?.notifyOwn(changes)
  }
}

/// A context's mailbox for the commits of others; any thread posts, the context's own reads.
final class ChangeInbox: Sendable {
  private struct Content {
    var touched: [Int: Set<Int64>] = [:]
    var isEverythingTouched = false
    var isScheduled = false
    var scheduler: (@Sendable () -> Void)?
    var listeners: [UUID: @Sendable (StoreChanges) -> Void] = [:]
    var rootByTable: [String: Int] = [:]
    var stores: Set<RecordStore.Identity> = []
  }

  private let registry: ObjectRegistry
  private let content = Mutex(Content())

  init(registry: ObjectRegistry) { self.registry = registry }

  func setUp(rootByTable: [String: Int], stores: Set<RecordStore.Identity>) {
    content.withLock {
      $0.rootByTable = rootByTable
      $0.stores = stores
    }
  }

  /// What is called, on any thread, when there is something to merge.
  func setScheduler(_ scheduler: @escaping @Sendable () -> Void) {
    content.withLock { $0.scheduler = scheduler }
  }

  func addListener(_ listener: @escaping @Sendable (StoreChanges) -> Void) -> UUID {
    let id = UUID()
    content.withLock { $0.listeners[id] = listener }
    return id
  }

  func removeListener(_ id: UUID) { content.withLock { $0.listeners[id] = nil } }

  func notifyOwn(_ changes: StoreChanges) {
    let listeners = content.withLock { Array($0.listeners.values) }
    for listener in listeners { listener(changes) }
  }

  func receive(_ changes: StoreChanges) {
    let (concerns, roots) = content.withLock { ($0.stores.contains(changes.store), $0.rootByTable) }
    guard concerns else { return }
    var touched: [Int: [Int64]] = [:]
    if let rows = changes.rows {
      for (table, rows) in rows {
        guard let root = roots[table] else { continue }
        touched[root] = registry.markStale(root: root, rows: rows)
      }
    } else {
      registry.markAllStale()
    }
    let scheduler = content.withLock { content -> (@Sendable () -> Void)? in
      if changes.rows == nil { content.isEverythingTouched = true }
      for (root, rows) in touched { content.touched[root, default: []].formUnion(rows) }
      guard !content.isScheduled, content.scheduler != nil else { return nil }
      content.isScheduled = true
      return content.scheduler
    }
    notifyOwn(changes)
    scheduler?()
  }

  /// Takes out what has come: rows by root entity; nil for all of them.
  func take() -> [Int: Set<Int64>]?? {
    content.withLock { content in
      content.isScheduled = false
      defer {
        content.touched = [:]
        content.isEverythingTouched = false
      }
      if content.isEverythingTouched { return .some(nil) }
      return content.touched.isEmpty ? nil : .some(content.touched)
    }
  }
}

extension ObjectGraph {
  /// Gives registered objects what other contexts and processes have committed.
  func receiveRemoteChanges() {
    lookForForeignCommits()
    guard let taken = inbox.take() else { return }
    let objects: [AnyObject]
    if let touched = taken {
      objects = touched.flatMap { root, rows in
        rows.compactMap { registry.object(root: root, row: $0) }
      }
    } else {
      objects = registry.all()
    }
    // Only what somebody observes is read now; the rest when it is next used.
    for case let model as any PersistentModel in objects {
      guard model._$statePointer.pointee.extra?.registrar != nil else { continue }
      notifying(model, changes: .max) {
        if model.has(_ModelFlags.stale) { reload(model) }
      }
    }
  }

  private func lookForForeignCommits() {
    for store in Set(stores.map(ObjectIdentifier.init)).compactMap({ id in
      stores.first { ObjectIdentifier($0) == id }
    }) where store.sawForeignCommit() {
      StoreExchange.shared.post(StoreChanges(store: store.identity, rows: nil), from: nil)
    }
  }

  // MARK: Observation

  /// Runs a change of one property between the two calls that Observation needs.
  func notifying(_ model: any PersistentModel, _ index: Int, _ change: () -> Void) {
    guard let registrar = model._$statePointer.pointee.extra?.registrar,
      let keyPath = entity(of: model).properties[index].keyPath
    else { return change() }
    PropertyNotifier.notify(registrar, model, keyPath, isBefore: true)
    change()
    PropertyNotifier.notify(registrar, model, keyPath, isBefore: false)
  }

  func notifying(_ model: any PersistentModel, changes: UInt64, _ change: () -> Void) {
    guard let registrar = model._$statePointer.pointee.extra?.registrar else { return change() }
    let keyPaths = entity(of: model).properties.lazy.filter {
      changes & ModelExtra.bit($0.index) != 0
    }.compactMap(\.keyPath)
    for keyPath in keyPaths {
      PropertyNotifier.notify(registrar, model, keyPath, isBefore: true)
    }
    change()
    for keyPath in keyPaths {
      PropertyNotifier.notify(registrar, model, keyPath, isBefore: false)
    }
  }
}

/// Calls Observation with a key path whose types are known at run time only.
enum PropertyNotifier {
  static func notify(
    _ registrar: ObservationRegistrar, _ model: any PersistentModel, _ keyPath: AnyKeyPath,
    isBefore: Bool
  ) {
    func openRoot<Root: PersistentModel>(_ root: Root.Type) {
      guard let subject = model as? Root else { return }
      func openValue<Value>(_ value: Value.Type) {
        guard let path = keyPath as? KeyPath<Root, Value> else { return }
        if isBefore {
          registrar.willSet(subject, keyPath: path)
        } else {
          registrar.didSet(subject, keyPath: path)
        }
      }
      _openExistential(type(of: keyPath).valueType, do: openValue)
    }
    if let root = type(of: keyPath).rootType as? any PersistentModel.Type { openRoot(root) }
  }
}
