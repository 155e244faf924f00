extension ModelConfiguration.Sync {
  /// How edits of one attribute on several devices become one value, where the later edit should not simply stay.
  ///
  /// ```swift
  /// sync: .zone("0123…", merging: .counter(\Song.plays), .max(\Game.best))
  /// ```
  ///
  /// Name an attribute's rule in the first version that syncs it, and in all later ones: values that were synced without
  /// the rule don't have what it needs.
  public struct Merge: Hashable, Sendable {
    package enum Rule: Sendable { case counter, max, min, union }

    /// The model that the key path begins at.
    package let model: String
    package let property: String
    package let rule: Rule

    private init(_ model: any PersistentModel.Type, _ path: AnyKeyPath, _ rule: Rule) {
      let metadata = ModelMetadata.of(model)
      self.model = metadata.name
      property = metadata.property(at: path)?.name ?? KeyPathName.lastComponent(path)
      self.rule = rule
    }

    /// What each device adds, or takes away, counts: of 5, of 5 + 2 here and of 5 + 3 there becomes 10.
    public static func counter<Model: PersistentModel>(_ path: KeyPath<Model, Int>) -> Merge {
      Merge(Model.self, path, .counter)
    }

    /// The greatest value that any device has given stays. Strings compare by their UTF-8; nil is less than all values.
    public static func max<Model: PersistentModel, Value>(_ path: KeyPath<Model, Value>) -> Merge {
      Merge(Model.self, path, .max)
    }

    /// The smallest value that any device has given stays; nil counts as none.
    public static func min<Model: PersistentModel, Value>(_ path: KeyPath<Model, Value>) -> Merge {
      Merge(Model.self, path, .min)
    }

    /// All elements that any device has put into an array stay, each once, in an order that is the same everywhere. None
    /// can be removed.
    public static func union<Model: PersistentModel, Element: Codable>(
      _ path: KeyPath<Model, [Element]>
    ) -> Merge {
      Merge(Model.self, path, .union)
    }
  }
}
