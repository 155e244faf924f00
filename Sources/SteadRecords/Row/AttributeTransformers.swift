import Foundation

/// Finds the transformers that attributes name.
enum AttributeTransformers {
  static func register(_ type: ValueTransformer.Type, as name: String) {
    let key = NSValueTransformerName(name)
    guard ValueTransformer(forName: key) == nil else { return }
    ValueTransformer.setValueTransformer(type.init(), forName: key)
  }

  static func transformer(named name: String) -> ValueTransformer? {
    ValueTransformer(forName: NSValueTransformerName(name))
  }
}
