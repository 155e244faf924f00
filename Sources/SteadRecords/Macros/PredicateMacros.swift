public import Foundation

/// A condition on models, checked as plain Swift and run as SQL.
///
/// ```swift
/// let open = #Predicate<Task> { !$0.isDone && $0.title.hasPrefix("Call") }
/// ```
///
/// For models this macro stands before Foundation's of the same name and gives the same type; it
/// accepts more, and its expansion takes the compiler time in proportion to its length. The closure
/// itself is checked beside Foundation's macro, which takes long when `$0` meets many optionals:
/// name the type, as in `#Predicate { (task: Task) in … }`, or write ``ModelPredicate(_:)``.
///
/// What does not mention the model is evaluated once, when the predicate is made; a captured object
/// is kept by its identifier. Documentation/Predicates.md tells which forms compile, and their cost.
@freestanding(expression)
public macro Predicate<each Input: PersistentModel>(
  _ body: (repeat each Input) -> Bool
) -> Foundation.Predicate<repeat each Input> =
  #externalMacro(module: "SteadRecordsMacros", type: "PredicateMacro")

/// `#Predicate` under a name of its own, for conditions that are too long for the shared name.
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
