extension Schema {
  /// Creates a schema from model types and all that their relationships reach.
  public convenience init(
    _ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)
  ) {
    self.init(types, version: version, of: nil)
  }

  /// - Parameter owner: The type that the version's own classes are declared in.
  private convenience init(
    _ types: [any PersistentModel.Type], version: Version, of owner: Any.Type?
  ) {
    var builder = SchemaBuilder()
    builder.add(types, of: owner)
    let entities = builder.makeEntities()
    self.init(
      entities: entities, models: builder.models, findings: builder.findings, version: version)
  }

  /// Creates a schema from model types and all that their relationships reach.
  public convenience init(
    _ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)
  ) {
    self.init(types, version: version)
  }

  /// Creates the schema that a versioned schema describes.
  ///
  /// A version may reuse classes of another one. If such a class leads to a class of its own version that this version
  /// has under the same name, this version's class takes its place.
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(
      versionedSchema.models, version: versionedSchema.versionIdentifier, of: versionedSchema)
  }

  /// The class of a name; nil for an entity made by hand.
  func model(named name: String) -> (any PersistentModel.Type)? {
    models.first { $0.name == name }?.type
  }
}
