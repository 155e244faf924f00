import ExampleSupport
import SwiftData

/// What a migration must not change: counts, sums, and a checksum of all values.
///
/// Of packages with one name the newest counts, as in the last version.
public struct Totals: Hashable, Sendable {
  public private(set) var packages = 0
  /// In KiB.
  public private(set) var installedSize = 0
  public var maintainers: Int { addresses.count }
  /// Those of maintainers who have packages.
  private var addresses: Set<String> = []
  /// Of the values of each package, in any order.
  private var checksum = 0

  /// The totals of a store of the first version.
  public init(first context: ModelContext) throws {
    var kept: V1.Package?
    func addKept() {
      guard let kept else { return }
      add(
        kept.name, kept.version, kept.size, kept.section ?? "misc",
        Person(kept.maintainer).address, kept.summary)
    }
    let sorted = FetchDescriptor<V1.Package>(sortBy: [
      SortDescriptor(\.name, comparator: .lexical), SortDescriptor(\.size, order: .reverse),
    ])
    try context.enumerate(sorted) { package in
      if kept?.name != package.name {
        addKept()
        kept = package
      } else if let other = kept,
        DebianVersion(package.version).isNewer(than: DebianVersion(other.version))
      {
        kept = package
      }
    }
    addKept()
  }

  /// The totals of a store of the newest version.
  public init(newest context: ModelContext) throws {
    try context.enumerate(FetchDescriptor<Package>()) { package in
      add(
        package.name, package.version.description, package.installedSize, package.section,
        package.maintainer?.address, package.summary)
    }
  }

  private mutating func add(
    _ name: String, _ version: String, _ size: Int, _ section: String, _ address: String?,
    _ summary: String
  ) {
    packages += 1
    installedSize += size
    if let address { addresses.insert(address) }
    var hasher = Hasher()
    for text in [name, version, section, address, summary] { hasher.combine(text) }
    hasher.combine(size)
    checksum &+= hasher.finalize()
  }
}

extension Totals: CustomStringConvertible {
  public var description: String {
    "\(packages) names, \(installedSize) KiB, \(maintainers) maintainers"
  }
}
