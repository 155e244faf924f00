import Foundation

/// Makes what a store keeps in `Z_MODELCACHE`: a model, archived and deflated.
struct ModelCache {
  indirect enum Property: Sendable {
    case attribute(String, Int)
    case composite(String, [Property])
    case toOne(String)
    case toMany(String)
    /// With a renaming identifier.
    case renamed(Property, String)
  }

  private var objects: [Any] = ["$null"]
  private var classes: [String: Int] = [:]

  /// The bytes, in an SQL literal.
  static func literal(_ entities: [String: [Property]]) throws -> String {
    let content = try content(entities)
    return "x'" + content.map { String(format: "%02x", $0) }.joined() + "'"
  }

  static func content(_ entities: [String: [Property]]) throws -> Data {
    var cache = ModelCache()
    let model = cache.add(["NSVersionIdentifiers": cache.reference(0)], "NSManagedObjectModel")
    for (name, properties) in entities.sorted(by: { $0.key < $1.key }) {
      cache.addEntity(name, properties, model)
    }
    let archive: [String: Any] = [
      "$archiver": "NSKeyedArchiver", "$version": 100_000, "$objects": cache.objects,
      "$top": ["root": cache.reference(model)],
    ]
    let data = try PropertyListSerialization.data(
      fromPropertyList: archive, format: .binary, options: 0)
    return stored(data)
  }

  /// DEFLATE without compression.
  private static func stored(_ data: Data) -> Data {
    var (result, rest) = (Data(), data[...])
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      result.append(rest.isEmpty ? 1 : 0)
      for number in [count, ~count] {
        result.append(UInt8(number & 0xFF))
        result.append(UInt8(number >> 8))
      }
      result.append(block)
    } while !rest.isEmpty
    return result
  }

  private func reference(_ index: Int) -> [String: Any] { ["CF$UID": index] }

  private mutating func addPlain(_ value: Any) -> Int {
    objects.append(value)
    return objects.count - 1
  }

  private mutating func add(_ fields: [String: Any], _ className: String, _ above: String...) -> Int
  {
    let type =
      classes[className]
      ?? addPlain(["$classname": className, "$classes": [className] + above + ["NSObject"]])
    classes[className] = type
    return addPlain(fields.merging(["$class": reference(type)]) { one, _ in one })
  }

  private mutating func addEntity(_ name: String, _ properties: [Property], _ model: Int) {
    var (keys, values): ([Any], [Any]) = ([], [])
    for property in properties {
      let (name, value) = add(property)
      keys.append(reference(addPlain(name)))
      values.append(reference(value))
    }
    let list = add(["NS.keys": keys, "NS.objects": values], "NSMutableDictionary", "NSDictionary")
    let fields: [String: Any] = [
      "NSEntityName": reference(addPlain(name)), "NSProperties": reference(list),
      "NSManagedObjectModel": reference(model), "NSSuperentity": reference(0),
    ]
    _ = add(fields, "NSEntityDescription")
  }

  private mutating func add(_ property: Property) -> (String, Int) {
    switch property {
    case .attribute(let name, let type):
      let fields: [String: Any] = [
        "NSPropertyName": reference(addPlain(name)), "NSAttributeType": type,
      ]
      return (name, add(fields, "NSAttributeDescription", "NSPropertyDescription"))
    case .composite(let name, let parts):
      let elements = parts.map { reference(add($0).1) }
      let list = add(["NS.objects": elements], "NSArray")
      let fields: [String: Any] = [
        "NSPropertyName": reference(addPlain(name)), "NSAttributeType": 2100,
        "NSCompositeParts": reference(list),
      ]
      let type = "NSCompositeAttributeDescription"
      return (name, add(fields, type, "NSAttributeDescription", "NSPropertyDescription"))
    case .toOne(let name): return (name, addRelationship(name, 1))
    case .toMany(let name): return (name, addRelationship(name, 0))
    case .renamed(let property, let identifier):
      let (name, place) = add(property)
      var fields = objects[place] as? [String: Any] ?? [:]
      fields["NSRenamingIdentifier"] = reference(addPlain(identifier))
      objects[place] = fields
      return (name, place)
    }
  }

  private mutating func addRelationship(_ name: String, _ count: Int) -> Int {
    add(
      ["NSPropertyName": reference(addPlain(name)), "NSMaxCount": count],
      "NSRelationshipDescription", "NSPropertyDescription")
  }
}
