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

  /// Whether another context wants to know of a store's commits.
  func hasReceiver(of store: RecordStore, beside sender: ChangeInbox) -> Bool {
    let receivers = inboxes.withLock { $0.compactMap(\.inbox) }
    return receivers.contains { $0 !== sender && $0.isConcerned(by: store.identity) }
  }

  func post(_ changes: StoreChanges, from sender: ChangeInbox?) {
    let receivers = inboxes.withLock { $0.compactMap(\.inbox) }
    for inbox in receivers where inbox !== sender { inbox.receive(changes) }
  }
}

/// A context's mailbox for the commits of others; any thread posts, the context's own reads.
final class ChangeInbox: Sendable {
  private struct Content {
    var touched: [Int: Set<Int64>] = [:]
    var isEverythingTouched = false
    var isScheduled = false
    var scheduler: (@Sendable () -> Void)?
    var tables: Set<String> = []
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

  func isConcerned(by store: RecordStore.Identity) -> Bool {
    content.withLock { $0.stores.contains(store) }
  }

  var hasScheduler: Bool { content.withLock { $0.scheduler != nil } }

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
      content.tables.formUnion(changes.rows?.keys.map { $0 } ?? [])
      guard !content.isScheduled, content.scheduler != nil else { return nil }
      content.isScheduled = true
      return content.scheduler
    }
    scheduler?()
  }

  /// What has come since the last call.
  struct Mail {
    /// Registered rows by root entity; nil for all.
    let rows: [Int: Set<Int64>]?
    /// The tables that changed; nil for any.
    let tables: Set<String>?
  }

  /// Takes out what has come; nil when nothing has.
  func take() -> Mail? {
    content.withLock { content in
      content.isScheduled = false
      defer {
        content.touched = [:]
        content.tables = []
        content.isEverythingTouched = false
      }
      if content.isEverythingTouched { return Mail(rows: nil, tables: nil) }
      if content.tables.isEmpty { return nil }
      return Mail(rows: content.touched, tables: content.tables)
    }
  }
}

extension ObjectGraph {
  /// Gives registered objects what other contexts and processes have committed.
  func receiveRemoteChanges(asksStores: Bool = true) {
    if asksStores { lookForForeignCommits() }
    guard let mail = inbox.take() else { return }
    let objects: [AnyObject]
    if let touched = mail.rows {
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
    contextDidChange(mail.tables)
  }

  private func lookForForeignCommits() {
    for store in container.stores { store.postForeignCommit() }
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
