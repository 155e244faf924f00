public import Foundation
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
/// Makes a class persistent: its stored properties become attributes and relationships.
///
/// ```swift
/// @Model final class Trip {
///   var name: String
///   @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
///
///   init(name: String) { self.name = name }
/// }
/// ```
///
/// Each object then belongs to a ``ModelContext``, which saves it. A property read costs about what a plain one does.
/// The class needs an initializer of its own; `lazy`, tuples and generic classes are refused. A `final` class is read
/// from a store faster, since its objects are made without evaluating default values.
///
/// A stored property may be a number, a string, a date, data, a UUID, a URL, an enum with raw values, any Codable type,
/// a model, or an array or an optional of these; at most 1,024 with inherited ones. Give a property that a later
/// version adds a default value, or make it optional: existing stores then follow without a migration plan. A subclass
/// of a model class is a model, too, and shares its table.
///
/// An attribute may be a `let`, which is set by the initializer, by reading a row, and by an upsert of its row. A
/// relationship must be a `var`: deleting its destination changes it.
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "SteadRecordsMacros", type: "ModelMacro")

/// Describes how an attribute is stored.
///
/// ```swift
/// @Attribute(.unique) var code: String
/// @Attribute(.externalStorage) var photo: Data?
/// @Attribute(originalName: "title") var name: String
/// ```
///
/// Only needed for options, a former name or a changed hash; a property without it is stored, too.
///
/// - Parameters:
///   - options: How the value is stored and treated, see ``Schema/Attribute/Option``.
///   - originalName: The name that the property had in earlier versions; its values then stay.
///   - hashModifier: A string that makes two otherwise equal versions of the property differ.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SteadRecordsMacros", type: "AttributeMacro")

/// Describes how a relationship behaves.
///
/// ```swift
/// @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
/// ```
///
/// Name `inverse:` on only one side of a pair: the compiler cannot look at both sides at once. The delete rule says
/// what happens to the destinations if the object is deleted.
///
/// Without `inverse:` an inverse is inferred if exactly one property can be it and the to-one side is optional. If
/// several can, each side is one-way, which is reported to `Stead.onProblem`. A many-to-many inverse is never inferred.
/// A to-many relationship keeps its order and has no duplicates.
///
/// - Parameters:
///   - options: How the relationship is treated.
///   - deleteRule: What happens to the destinations, see ``Schema/Relationship/DeleteRule``.
///   - minimumModelCount: The minimum number of destinations, which a save checks; 0 for none.
///   - maximumModelCount: The maximum number, which a save checks; 0 for none.
///   - originalName: The name that the property had in earlier versions; its links then stay.
///   - inverse: The property of the destination that leads back.
///   - hashModifier: A string that makes two otherwise equal versions of the relationship differ.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
  inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SteadRecordsMacros", type: "RelationshipMacro")

/// Keeps a property out of the store.
///
/// ```swift
/// @Transient var isExpanded = false
/// ```
///
/// A stored property needs an initial value, which objects read from the store have. Changes to it are not tracked
/// and make nothing to save. The value exists in that one object: once nothing holds the object, the next fetch gives
/// one with the initial value. A predicate cannot use it in SQL.
@attached(peer)
public macro Transient() = #externalMacro(module: "SteadRecordsMacros", type: "TransientMacro")

/// Declares properties whose combined values must be unique; saving a second object with the same values updates the
/// first.
///
/// ```swift
/// #Unique<Person>([\.firstName, \.lastName])
/// ```
///
/// Write it in the class. Each list is a separate key, with an index of its own; a list with a nil never clashes.
/// Changing an object so that it gets another one's values makes the save throw
/// ``SwiftDataError/modelValidationFailure``. A to-one relationship may be in a list, a to-many one may not. The
/// classes of a hierarchy share their keys.
@freestanding(declaration)
public macro Unique<T>(_ constraints: _PropertySet<T>...) =
  #externalMacro(module: "SteadRecordsMacros", type: "UniqueMacro") where T: PersistentModel

/// Indexes sets of properties, so that predicates and sort orders on them need no scan or sort.
///
/// ```swift
/// #Index<Trip>([\.start], [\.destination, \.start])
/// ```
///
/// Write it in the class. An index of several properties serves conditions on the first, on the first two, and so on.
/// Of strings it serves equality and prefixes, but no order: that needs a collation, which the index does not have.
/// Changing the indexes of a model needs no migration plan. `.binary([…])` and `.rtree([…])` select the kind of index;
/// a plain list is a binary one. Each index makes saving slower and the file larger.
@freestanding(declaration)
public macro Index<T>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "SteadRecordsMacros", type: "IndexMacro") where T: PersistentModel

/// Gives an actor its own context, and runs the actor on the context's executor.
///
/// ```swift
/// @ModelActor actor Importer {
///   func insert(_ names: [String]) throws {
///     for name in names { modelContext.insert(Trip(name: name)) }
///     try modelContext.save()
///   }
/// }
/// ```
///
/// The initializer `init(modelContainer:)` is added unless the actor has stored properties without a value; then write
/// one that sets `modelContainer` and `modelExecutor` (``DefaultSerialModelExecutor``). See ``ModelActor``.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "SteadRecordsMacros", type: "ModelActorMacro")

/// Generated by `@Model` on each persisted property; not for use in source.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_$slot_), prefixed(_$proof_), prefixed(_$observing_))
public macro _PersistedProperty(at index: String, of model: String) =
  #externalMacro(module: "SteadRecordsMacros", type: "PersistedPropertyMacro")

// MARK: - Predicates

/// A condition on models, checked as plain Swift and run as SQL.
///
/// ```swift
/// let open = #Predicate<Task> { !$0.isDone && $0.title.hasPrefix("Call") }
/// ```
///
/// For models this macro takes precedence over Foundation's macro of the same name and returns the same type. It
/// accepts more, and its expansion compiles in time proportional to its length. The compiler still checks the closure
/// itself alongside Foundation's macro, which takes long if `$0` is used with many optionals: name the type, as in
/// `#Predicate { (task: Task) in … }`, or write ``ModelPredicate(_:)``.
///
/// Expressions that do not mention the model are evaluated once, when the predicate is made, so `Date.now` is a
/// constant; captured values must be Codable and Sendable. A captured object is kept by its identifier: one that is not
/// saved yet is no longer found by the predicate once it is saved.
///
/// The meaning is Swift's, in SQL and in memory: nil is a value, so `$0.rank != 5` is true for nil, and strings are
/// equal if Swift says so. Where Swift would trap, such as at `$0.due!` of nil or an overflow, a row does not match.
/// What has no SQL, such as a computed property, is evaluated in memory for the rows that pass the rest.
/// Documentation/Predicates.md lists which forms compile, and their cost.
@freestanding(expression)
public macro Predicate<each Input: PersistentModel>(
  _ body: (repeat each Input) -> Bool
) -> Foundation.Predicate<repeat each Input> =
  #externalMacro(module: "SteadRecordsMacros", type: "PredicateMacro")

/// `#Predicate` under its own name, for conditions that are too long for the shared name.
///
/// Takes one model. Sixteen terms with optional chains compile in about a second.
///
/// ```swift
/// let matching = #ModelPredicate<Task> { $0.project?.title == name && … }
/// ```
@freestanding(expression)
public macro ModelPredicate<Input: PersistentModel>(
  _ body: (Input) -> Bool
) -> Foundation.Predicate<Input> =
  #externalMacro(module: "SteadRecordsMacros", type: "PredicateMacro")
