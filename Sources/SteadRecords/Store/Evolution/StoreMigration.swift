public import Foundation

/// What opening a store has changed in it, or would change.
public struct StoreMigration: Sendable {
  /// How many objects an entity has.
  public struct Count: Sendable, Hashable {
    /// The entity's name.
    public let entity: String
    /// How many it had before; nil for an entity that did not exist.
    public let before: Int?
    /// How many it has now; nil for an entity that is gone.
    public let after: Int?
  }

  /// A stage of a migration plan that ran.
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
  /// What has changed in the models since the store was last opened.
  ///
  /// It only compares these two: ``stages`` lists what stages have renamed or converted on the way.
  public let difference: SchemaDifference
  /// A backup of the store before the migration, if data was dropped or converted: a separate store, which the next
  /// such migration replaces. nil if nothing was lost, if the store is in memory or larger than 1 GiB, and for a dry
  /// run.
  public let backup: URL?
  /// The stages of a migration plan that ran, in order.
  public let stages: [Stage]
  /// The objects of each entity, by name, if a plan's stages ran or in a dry run. Objects of subclasses are counted as
  /// those of the subclass.
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
  /// What has changed, and the numbers of objects, one per line.
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
  /// The versions, and what has changed, in one line.
  public var description: String {
    let changes =
      isCustom ? difference.facts : difference.description.replacing("\n", with: " ")
    return "\(name)\(isCustom ? ", a custom stage" : ""): "
      + (changes.isEmpty ? "The models are the same." : changes)
  }
}
