extension Schema {
  /// Creates a schema from model types and all that their relationships reach.
  public convenience init(
    _ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)
  ) {
    var builder = SchemaBuilder()
    builder.add(types)
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
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
  }
}
