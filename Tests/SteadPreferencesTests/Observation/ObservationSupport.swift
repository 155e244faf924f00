import Foundation
import SteadFiles

@testable import SteadPreferences

typealias Change = PreferenceChange<PropertyList?>

/// What handlers were called with, in the order of the calls.
final class Log<Element: Sendable>: Sendable {
  private let elements = ForkSafeLock<[Element]>([])

  var all: [Element] { elements.withLock { $0 } }

  func add(_ element: Element) { elements.withLock { $0.append(element) } }
}

extension Log where Element == Change {
  /// "key: old -> new", with an asterisk for a change that is not this process's own.
  var texts: [String] {
    all.map { "\($0.key): \(text($0.old)) -> \(text($0.new))\($0.isOwn ? "" : " *")" }
  }

  private func text(_ value: PropertyList?) -> String {
    switch value {
    case nil: "nil"
    case .integer(let number): "\(number)"
    case .string(let text): text
    case let other?: "\(other)"
    }
  }
}

/// Domains that are looked up one after the other, and their observers.
final class Layers: Sendable {
  let observers: PreferenceObservers
  private let box: Box

  convenience init(_ count: Int) {
    self.init((0..<count).map { DomainStore(inMemory: "layer \($0)") })
  }

  init(_ stores: [DomainStore]) {
    let box = Box(stores)
    observers = PreferenceObservers { box.stores.withLock { $0 } }
    self.box = box
  }

  private final class Box: Sendable {
    let stores: ForkSafeLock<[DomainStore]>
    init(_ stores: [DomainStore]) { self.stores = ForkSafeLock(stores) }
  }

  subscript(layer: Int) -> DomainStore { box.stores.withLock { $0[layer] } }

  var list: [DomainStore] {
    get { box.stores.withLock { $0 } }
    set {
      box.stores.withLock { $0 = newValue }
      observers.searchListDidChange(isOwn: true)
    }
  }

  func change(_ change: (inout [DomainStore]) -> Void) {
    box.stores.withLock { change(&$0) }
    observers.searchListDidChange(isOwn: true)
  }

  /// What a look-up gives.
  func value(_ key: String) -> PropertyList? {
    list.lazy.compactMap { $0.value(forKey: key) }.first
  }
}

extension DomainStore {
  func set(_ number: Int, forKey key: String) throws {
    try set(.integer(Int64(number)), forKey: key)
  }

  /// What the store does when another process has written.
  func setFromOutside(_ value: PropertyList?, forKey key: String) {
    state.withLock { state in
      let old = state.table.replace(key, with: value)
      let change = DomainEvent.Change(key: key, old: old, new: value)
      state.post([change], isOwn: false)
    }
    deliver()
  }

  var handlerCount: Int { state.withLock { $0.handlers.count } }
}

extension Preferences {
  func set(_ number: Int, _ key: String) throws {
    try setPropertyList(.integer(Int64(number)), forKey: key)
  }

  func number(_ key: String) -> Int? {
    guard case .integer(let number) = propertyList(forKey: key) else { return nil }
    return Int(number)
  }
}
