import SwiftDiagnostics
import SwiftSyntax

extension VariableDeclSyntax {
  /// Offers the same properties, each with a separate declaration.
  var splitting: FixIt? {
    guard bindings.count > 1 else { return nil }
    let head = [attributes.trimmedDescription, modifiers.trimmedDescription, bindingSpecifier.text]
      .filter { !$0.isEmpty }.joined(separator: " ")
    // Every line begins where the first does.
    let indentation = leadingTrivia.description.split(separator: "\n").last ?? ""
    let text = ownTypes.map { binding, type in
      let annotation = type.map(\.trimmedDescription) ?? ""
      let initializer = binding.initializer.map { " " + $0.trimmedDescription } ?? ""
      return "\(head) \(binding.pattern.trimmedDescription)\(annotation)\(initializer)"
    }.joined(separator: "\n" + indentation)
    return FixIt(
      message: ModelRemedy.split,
      changes: [.replaceText(range: trimmedRange, with: text, in: Syntax(root))])
  }

  /// Each binding with its type: in `var a, b: Int` the first has the second's.
  private var ownTypes: [(PatternBindingSyntax, TypeAnnotationSyntax?)] {
    var following: TypeAnnotationSyntax?
    let reversed = bindings.reversed().map { binding in
      following = binding.typeAnnotation ?? (binding.initializer == nil ? following : nil)
      return (binding, following)
    }
    return reversed.reversed()
  }
}
