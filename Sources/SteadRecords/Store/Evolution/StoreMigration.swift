public import Foundation

/// What opening a store has changed in it, or would change.
public struct StoreMigration: Sendable {
  /// How many objects of an entity there are.
  public struct Count: Sendable, Hashable {
    /// The entity's name.
    public let entity: String
    /// How many there were; nil for an entity that was not there.
    public let before: Int?
    /// How many there are; nil for an entity that is gone.
    public let after: Int?
  }

  /// A stage of a migration plan that was run.
  public struct Stage: Sendable {
    /// The versions, such as `V1 to V2`.
    public let name: String
    /// Whether it is a custom stage, whose closures may have converted anything.
    public let isCustom: Bool
    /// What it has changed in the models.
    public let difference: SchemaDifference
  }

  /// The store's file.
  public let url: URL
  /// What has changed in the models, from those that the store was opened with last.
  ///
  /// It compares these two alone: what stages have renamed or converted on the way is in ``stages``.
  public let difference: SchemaDifference
  /// The store as it was, where data was dropped or converted: a store of its own, which the next such migration
  /// replaces. nil where nothing was lost, where the store is in memory, or larger than 1 GiB, and for a dry run.
  public let backup: URL?
  /// The stages of a migration plan that were run, in their order.
  public let stages: [Stage]
  /// The objects of each entity, by name, where a plan's stages were run or in a dry run. Objects of subclasses are
  /// counted as those of the subclass.
  public let counts: [Count]

  init(
    url: URL, difference: SchemaDifference, backup: URL?, stages: [Stage] = [],
    counts: [Count] = []
  ) {
    self.url = url
    self.difference = difference
    self.backup = backup
    self.stages = stages
    self.counts = counts
  }
}

extension StoreMigration: CustomStringConvertible {
  /// What has changed, and the numbers of objects, a line each.
  public var description: String {
    var lines = [url.lastPathComponent + ":"]
    if stages.isEmpty {
      if !difference.isEmpty { lines.append(difference.description) }
    } else {
      lines += stages.map(\.description)
    }
    for count in counts {
      let (before, after) = (count.before.map { "\($0)" }, count.after.map { "\($0)" })
      lines.append("\(count.entity): \(before ?? "none") before, \(after ?? "none") afterwards.")
    }
    if let backup { lines.append("Backup: \(backup.lastPathComponent).") }
    return lines.joined(separator: "\n")
  }
}

extension StoreMigration.Stage: CustomStringConvertible {
  /// The versions, and what has changed, in a line.
  public var description: String {
    let changes =
      isCustom ? difference.facts : difference.description.replacing("\n", with: " ")
    return "\(name)\(isCustom ? ", a custom stage" : ""): "
      + (changes.isEmpty ? "The models are the same." : changes)
  }
}
