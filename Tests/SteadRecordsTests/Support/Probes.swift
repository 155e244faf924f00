import Foundation
import SwiftData

/// Sets up a value that closures of any isolation may change.
final class Box<Value>: @unchecked Sendable {
  // Sendable: every access takes the lock.
  private let lock = NSLock()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  func change(_ body: (inout Value) -> Void) { lock.withLock { body(&stored) } }
}

/// Receives a notification while it lives.
final class NotificationProbe {
  private let token: any NSObjectProtocol
  private let box = Box<[[String: Set<PersistentIdentifier>]]>([])

  /// The sets of identifiers of each notification that came.
  var received: [[String: Set<PersistentIdentifier>]] { box.value }

  init(_ name: Notification.Name, of context: ModelContext) {
    let box = box
    token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
      notification in
      var sets: [String: Set<PersistentIdentifier>] = [:]
      for (key, value) in notification.userInfo ?? [:] {
        if let key = key as? String { sets[key] = value as? Set<PersistentIdentifier> }
      }
      box.change { $0.append(sets) }
    }
  }

  deinit { NotificationCenter.default.removeObserver(token) }
}
