/// Which names of an earlier version are which of a later one: of classes, or of the properties of one class.
///
/// The rule is Core Data's: a renaming identifier decides first, and a name counts only where nothing else claims it.
///
/// 1. A name with the renaming identifier that it already had was renamed before, and stays what it is.
/// 2. Any other renaming identifier claims what had it as its name; if nothing has, what had it as its renaming
///    identifier, so that a chain of renames may name its first link throughout.
/// 3. A name without such a claim, or whose claim finds nothing, stays what it is unless another one claims that.
/// 4. What is then new under a name that the earlier version lacks, and had renamed, is that, which leads a stage back.
///    A name that the earlier version has is another one's there, whoever had it before.
package struct NameMatch {
  /// A name, with its renaming identifier if it has one.
  package struct Name {
    package let name: String
    package let claim: String?

    package init(_ name: String, originalName: String?) {
      self.name = name
      claim = originalName.flatMap { $0.isEmpty || $0 == name ? nil : $0 }
    }
  }

  /// Several names that claim one of the earlier version.
  package struct Conflict: Hashable {
    package let old: String
    package let new: [String]
  }

  /// The earlier name of each that had one.
  package private(set) var old: [String: String] = [:]
  package private(set) var conflicts: [Conflict] = []

  package init(from before: [Name], to now: [Name]) {
    let known = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
    let byClaim = Dictionary(grouping: before.filter { $0.claim != nil }) { $0.claim ?? "" }
    var claims: [String: [String]] = [:]
    for name in now {
      guard let claim = name.claim else { continue }
      if known[name.name]?.claim == claim {
        claims[name.name, default: []].append(name.name)
      } else if known[claim] != nil {
        claims[claim, default: []].append(name.name)
      } else if let only = Self.single(byClaim[claim]) {
        claims[only.name, default: []].append(name.name)
      }
    }
    for (earlier, claimants) in claims where claimants.count == 1 { old[claimants[0]] = earlier }
    conflicts = claims.filter { $0.value.count > 1 }.map { Conflict(old: $0.key, new: $0.value) }
      .sorted { $0.old < $1.old }
    var taken = Set(claims.keys)
    let claimants = Set(claims.values.joined())
    let rest = now.filter { !claimants.contains($0.name) }
    for name in rest where known[name.name] != nil && taken.insert(name.name).inserted {
      old[name.name] = name.name
    }
    for name in rest where name.claim == nil && known[name.name] == nil {
      guard let only = Self.single(byClaim[name.name]), taken.insert(only.name).inserted else {
        continue
      }
      old[name.name] = only.name
    }
  }

  private static func single(_ names: [Name]?) -> Name? { names?.count == 1 ? names?[0] : nil }
}
