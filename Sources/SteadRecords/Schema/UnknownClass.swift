/// A class that is not in the container's schema, in words.
///
/// Where a version declares a class anew, code that names the other version's class of that name compiles, and is hard to
/// tell from the right one. So both are named.
struct UnknownClass {
  let problem: String
  let remedy: String

  init(_ type: any PersistentModel.Type, in layout: StoreLayout) {
    if let own = layout.entity(named: Schema.entityName(for: type))?.type, own != type {
      problem =
        "\(String(reflecting: type)) is not in the container's schema, which has \(String(reflecting: own)) by that name"
      remedy = "Use that class"
    } else {
      problem = "\(type) is not in the container's schema"
      remedy = "Name the type when the container is made"
    }
  }
}
