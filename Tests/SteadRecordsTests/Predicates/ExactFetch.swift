import SwiftData
import Testing

@testable import SteadRecords

extension ModelContext {
  /// The names of the objects that a predicate finds, by name. SQL alone must be able to find them, and memory must find
  /// the same.
  func exactNames<Model: PersistentModel>(
    _ name: KeyPath<Model, String> & Sendable, _ predicate: Predicate<Model>
  ) throws -> [String] {
    let descriptor = FetchDescriptor<Model>(predicate: predicate, sortBy: [SortDescriptor(name)])
    let plan = try FetchPlan(
      descriptor, layout: container.layout, entities: linkedGraph().entities, pendingRoots: [])
    let isExact = plan.isExact
    #expect(isExact)
    let found = try fetch(descriptor).map { $0[keyPath: name] }
    let all = try fetch(FetchDescriptor<Model>(sortBy: [SortDescriptor(name)]))
    #expect(try all.filter { try predicate.evaluate($0) }.map { $0[keyPath: name] } == found)
    return found
  }
}
