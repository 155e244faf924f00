import Foundation

@objc(TagsTransformer)
final class TagsTransformer: NSSecureUnarchiveFromDataTransformer {
  override static var allowedTopLevelClasses: [AnyClass] { [NSArray.self, NSString.self] }

  static func register() {
    ValueTransformer.setValueTransformer(
      TagsTransformer(), forName: NSValueTransformerName("TagsTransformer"))
  }
}
