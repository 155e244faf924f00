import ExampleSupport
import SwiftData

/// Puts records on the shelf as objects that refer to each other.
public struct Shelf {
  private let context: ModelContext

  public init(_ context: ModelContext) { self.context = context }

  /// Inserts the records and saves them. Names are unique, so a second import updates the first.
  public func add(_ records: [PackageRecord]) throws {
    var sections: [String: Section] = [:]
    var maintainers: [String: Maintainer] = [:]
    var packages: [String: Package] = [:]
    for record in records {
      let package = Package(record)
      packages[record.name] = package
      context.insert(package)
      let section = record.section ?? "misc"
      package.section = sections.value(section) { Section(name: section) }
      let person = record.maintainer
      package.maintainer = maintainers.value(person.address) {
        Maintainer(name: person.name, address: person.address)
      }
    }
    for record in records {
      packages[record.name]?.dependencies = record.dependencies.map { need in
        let dependency = Dependency(text: need.text)
        dependency.alternatives = need.names.compactMap { packages[$0] }
        return dependency
      }
    }
    try context.save()
  }
}

extension Dictionary {
  /// The value of a key, made when there is none.
  fileprivate mutating func value(_ key: Key, orMake make: () -> Value) -> Value {
    if let value = self[key] { return value }
    let value = make()
    self[key] = value
    return value
  }
}
