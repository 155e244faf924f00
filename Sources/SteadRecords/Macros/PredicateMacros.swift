public import Foundation

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
/// Expressions that do not mention the model are evaluated once, when the predicate is made; a captured object is kept
/// by its identifier. Documentation/Predicates.md lists which forms compile, and their cost.
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
