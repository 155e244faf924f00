import Observation

/// Makes a class persistent: its stored properties become attributes and relationships.
///
/// Each object then belongs to a ``ModelContext``, which saves it. A property read costs about what a
/// plain one does. The class needs an initializer; `lazy`, tuples and generic classes are refused.
@attached(
  member, conformances: PersistentModel,
  names: named(_$state), named(_$statePointer), named(_$first), named(_$supermodel),
  named(_$propertyCount), named(_$constantOffsets), named(_$propertyMetadata), named(_$keyPaths),
  named(schemaMetadata), named(init), named(deinit), named(_$reload), named(_$bind),
  named(_$visit), named(_$make), named(_$isMakeable), named(_$fillUnstored))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "SteadRecordsMacros", type: "ModelMacro")

/// Says how an attribute is stored.
///
/// Needed for options, a former name or a changed hash only; without it a property is stored, too.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SteadRecordsMacros", type: "AttributeMacro")

/// Says how a relationship behaves.
///
/// Name `inverse:` on one side of a pair only: the compiler cannot look at both sides at once.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
  inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SteadRecordsMacros", type: "RelationshipMacro")

/// Keeps a property out of the store.
///
/// A stored property needs an initial value, which objects read from the store have.
@attached(peer)
public macro Transient() = #externalMacro(module: "SteadRecordsMacros", type: "TransientMacro")

/// Lets no two objects share the values of a set of properties; saving a second one updates the first.
@freestanding(declaration)
public macro Unique<T>(_ constraints: _PropertySet<T>...) =
  #externalMacro(module: "SteadRecordsMacros", type: "UniqueMacro") where T: PersistentModel

/// Indexes sets of properties, so that predicates and sort orders on them need no scan.
///
/// ```swift
/// #Index<Trip>([\.start], [\.destination, \.start])
/// ```
///
/// `.binary([…])` and `.rtree([…])` name the kind of an index; a plain list is a binary one. Each index
/// makes saving slower and the file larger.
@freestanding(declaration)
public macro Index<T>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "SteadRecordsMacros", type: "IndexMacro") where T: PersistentModel

/// Gives an actor a context of its own, and runs the actor on the context's executor.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "SteadRecordsMacros", type: "ModelActorMacro")

/// Written by `@Model` on each persisted property; not for use in source.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$slot_), prefixed(_$proof_), prefixed(_$observing_))
public macro _PersistedProperty(at index: String, of model: String) =
  #externalMacro(module: "SteadRecordsMacros", type: "PersistedPropertyMacro")
