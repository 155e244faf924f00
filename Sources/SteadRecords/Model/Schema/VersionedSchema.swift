/// One version of an app's models.
public protocol VersionedSchema: SendableMetatype {
  static var versionIdentifier: Schema.Version { get }
  static var models: [any PersistentModel.Type] { get }
}
