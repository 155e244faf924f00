#if !canImport(Darwin)
  import Foundation

  /// An archive in NSKeyedArchiver's format, read without NSKeyedUnarchiver.
  ///
  /// Foundation's unarchiver on Linux ends the process when an archive is damaged or contains a class that
  /// isn't allowed. This one throws. The format is a binary property list:
  ///
  /// | key        | meaning                                                                   |
  /// | ---------- | ------------------------------------------------------------------------- |
  /// | `$archiver` | `NSKeyedArchiver`                                                        |
  /// | `$top`     | a dictionary, its `root` the index of the value                           |
  /// | `$objects` | the values: strings, numbers and data as they are, others as dictionaries |
  /// | `$class`   | in such a dictionary: the index of one with `$classname` and `$classes`   |
  package struct KeyedArchive {
    struct Unreadable: Error {}

    /// The maximum nesting depth: a damaged archive can contain itself.
    private static let depthLimit = 200
    /// The maximum number of values in a plain archive: a damaged one can contain one object very often.
    private static let expansionLimit = 10_000_000

    /// The classes that occur in archives of plain values.
    package static var plainClasses: [AnyClass] {
      [
        NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self,
        NSData.self, NSURL.self, NSUUID.self, NSNull.self,
      ]
    }

    private let data: Data
    /// The archive's objects, which refer to each other by position.
    private let objects: [PropertyList]
    private let top: Int
    private let allowed: [AnyClass]

    package init(_ data: Data, allowing allowed: [AnyClass]) throws {
      guard case .dictionary(let archive) = try BinaryPropertyList.decode(data),
        case .array(let objects) = archive["$objects"],
        case .dictionary(let roots) = archive["$top"],
        let top = roots["root"].flatMap(Self.reference)
      else { throw Unreadable() }
      self.data = data
      self.objects = objects
      self.top = top
      self.allowed = allowed
    }

    package func root() throws -> Any {
      if try containsOnlyBuiltIns() { return try object(at: top, depth: 0) }
      let types = allowed + [NSString.self, NSNumber.self]
      guard let value = try NSKeyedUnarchiver.unarchivedObject(ofClasses: types, from: data)
      else { throw Unreadable() }
      return value
    }

    /// The value of an archive that contains only objects of the usual classes, none of which is passed to
    /// Foundation's unarchiver; throws for any other archive.
    package func plainRoot() throws -> Any {
      guard try containsOnlyBuiltIns() else { throw Unreadable() }
      var counts: [Int: Int] = [:]
      _ = try count(at: top, &counts, depth: 0)
      return try object(at: top, depth: 0)
    }

    /// The number of values in an object, counting shared ones at each occurrence.
    private func count(at index: Int, _ counts: inout [Int: Int], depth: Int) throws -> Int {
      if let count = counts[index] { return count }
      guard objects.indices.contains(index), depth < Self.depthLimit else { throw Unreadable() }
      var total = 1
      func add(_ value: PropertyList) throws {
        guard let object = Self.reference(value) else { return }
        total += try count(at: object, &counts, depth: depth + 1)
        if total > Self.expansionLimit { throw Unreadable() }
      }
      if case .dictionary(let fields) = objects[index] {
        for field in fields {
          guard case .array(let elements) = field.value else {
            try add(field.value)
            continue
          }
          for element in elements { try add(element) }
        }
      }
      counts[index] = total
      return total
    }

    /// Whether the archive contains no class of the user's own; throws for one that isn't allowed.
    private func containsOnlyBuiltIns() throws -> Bool {
      var isBuiltIn = true
      for object in objects {
        guard case .dictionary(let fields) = object, let found = fields["$classname"] else {
          continue
        }
        guard case .string(let name) = found else { throw Unreadable() }
        try checkAllowed(name)
        if BuiltIn(className: name) == nil { isBuiltIn = false }
      }
      return isBuiltIn
    }

    private func checkAllowed(_ className: String) throws {
      let type: AnyClass? =
        NSKeyedUnarchiver.class(forClassName: className) ?? NSClassFromString(className)
      guard let type, Self.isAllowed(type, allowed) else { throw Unreadable() }
    }

    /// The position of the object that a value refers to; nil when it refers to none.
    private static func reference(_ value: PropertyList) -> Int? {
      guard case .dictionary(let fields) = value else { return nil }
      return BinaryPropertyList.reference(fields).map { Int($0) }
    }

    private static func isAllowed(_ type: AnyClass, _ allowed: [AnyClass]) -> Bool {
      var type: AnyClass? = type
      while let current = type {
        if allowed.contains(where: { $0 == current }) { return true }
        type = _getSuperclass(current)
      }
      return false
    }

    // MARK: - Values

    /// The classes whose archives are read here.
    private enum BuiltIn {
      case array, set, dictionary, string, data, date, url, uuid, null

      init?(className: String) {
        switch className {
        case "NSArray", "NSMutableArray": self = .array
        case "NSSet", "NSMutableSet": self = .set
        case "NSDictionary", "NSMutableDictionary": self = .dictionary
        case "NSString", "NSMutableString": self = .string
        case "NSData", "NSMutableData": self = .data
        case "NSDate": self = .date
        case "NSURL": self = .url
        case "NSUUID": self = .uuid
        case "NSNull": self = .null
        default: return nil
        }
      }
    }

    /// The value of one of the archive's objects.
    private func object(at index: Int, depth: Int) throws -> Any {
      // Object 0 is the string "$null", which represents nil, and no collection contains nil.
      guard index > 0, objects.indices.contains(index), depth < Self.depthLimit else {
        throw Unreadable()
      }
      guard case .dictionary(let fields) = objects[index] else { return try scalar(objects[index]) }
      guard let type = fields["$class"].flatMap(Self.reference), objects.indices.contains(type),
        case .dictionary(let described) = objects[type],
        case .string(let className) = described["$classname"],
        let builtIn = BuiltIn(className: className)
      else { throw Unreadable() }
      return try value(builtIn, fields, depth: depth + 1)
    }

    private func scalar(_ stored: PropertyList) throws -> Any {
      let (value, type): (Any, AnyClass)
      switch stored {
      case .string(let text): (value, type) = (text, NSString.self)
      case .data(let data): (value, type) = (data, NSData.self)
      case .date(let date): (value, type) = (date, NSDate.self)
      case .bool(let bool): (value, type) = (NSNumber(value: bool), NSNumber.self)
      case .integer(let number): (value, type) = (NSNumber(value: number), NSNumber.self)
      case .unsignedInteger(let number): (value, type) = (NSNumber(value: number), NSNumber.self)
      case .float(let number): (value, type) = (NSNumber(value: Double(number)), NSNumber.self)
      case .double(let number): (value, type) = (NSNumber(value: number), NSNumber.self)
      case .array, .dictionary: throw Unreadable()
      }
      guard Self.isAllowed(type, allowed) else { throw Unreadable() }
      return value
    }

    private func value(_ builtIn: BuiltIn, _ fields: PropertyList.Fields, depth: Int) throws -> Any
    {
      switch builtIn {
      case .array: return try elements("NS.object", fields, depth)
      case .set: return Set(try hashable(elements("NS.object", fields, depth)))
      case .dictionary: return try dictionary(fields, depth)
      case .string: return try field(["NS.string", "NS.bytes"], fields, String.self, depth)
      case .data: return try field(["NS.data", "NS.bytes"], fields, Data.self, depth)
      case .date:
        let seconds = try field(["NS.time"], fields, NSNumber.self, depth).doubleValue
        return Date(timeIntervalSinceReferenceDate: seconds)
      case .url: return try url(fields, depth)
      case .uuid: return try uuid(fields, depth)
      case .null: return NSNull()
      }
    }

    /// A field that one archiver stores directly, and another by reference.
    private func field<Value>(
      _ names: [String], _ fields: PropertyList.Fields, _ type: Value.Type, _ depth: Int
    ) throws -> Value {
      for name in names {
        guard let found = fields[name] else { continue }
        let value: Any
        switch found {
        case .data(let data): value = data
        case .float(let number): value = NSNumber(value: Double(number))
        case .double(let number): value = NSNumber(value: number)
        case .integer(let number): value = NSNumber(value: number)
        case .string(let text): value = text
        default:
          guard let index = Self.reference(found) else { throw Unreadable() }
          value = try object(at: index, depth: depth)
        }
        if let value = value as? Value { return value }
      }
      throw Unreadable()
    }

    /// A list of references: `NS.objects`, or in older archives fields `NS.object.0` and so on.
    private func elements(_ name: String, _ fields: PropertyList.Fields, _ depth: Int) throws
      -> [Any]
    {
      var references: [PropertyList] = []
      if let table = fields[name + "s"] {
        guard case .array(let found) = table else { throw Unreadable() }
        references = found
      } else {
        while let found = fields["\(name).\(references.count)"] { references.append(found) }
      }
      return try references.map { found in
        guard let index = Self.reference(found) else { throw Unreadable() }
        return try object(at: index, depth: depth)
      }
    }

    private func dictionary(_ fields: PropertyList.Fields, _ depth: Int) throws -> [AnyHashable:
      Any]
    {
      let keys = try hashable(elements("NS.key", fields, depth))
      let values = try elements("NS.object", fields, depth)
      guard keys.count == values.count else { throw Unreadable() }
      return Dictionary(zip(keys, values)) { first, _ in first }
    }

    private func hashable(_ values: [Any]) throws -> [AnyHashable] {
      try values.map { value in
        guard let value = value as? AnyHashable else { throw Unreadable() }
        return value
      }
    }

    private func url(_ fields: PropertyList.Fields, _ depth: Int) throws -> URL {
      let text = try field(["NS.relative"], fields, String.self, depth)
      var base: URL?
      if let index = fields["NS.base"].flatMap(Self.reference), index != 0 {
        base = try object(at: index, depth: depth) as? URL
      }
      guard let url = URL(string: text, relativeTo: base) else { throw Unreadable() }
      return url
    }

    private func uuid(_ fields: PropertyList.Fields, _ depth: Int) throws -> UUID {
      let bytes = try field(["NS.uuidbytes"], fields, Data.self, depth)
      guard bytes.count == 16 else { throw Unreadable() }
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    // MARK: - Encoding

    /// Whether the archiver can encode a value: it ends the process at one that it cannot.
    package static func canHold(_ value: Any, allowing allowed: [AnyClass]) -> Bool {
      func allows(_ type: AnyClass) -> Bool { isAllowed(type, allowed) }
      switch value {
      case is String, is NSString: return allows(NSString.self)
      case is Date, is NSDate: return allows(NSDate.self)
      case is Data, is NSData: return allows(NSData.self)
      case is URL, is NSURL: return allows(NSURL.self)
      case is UUID, is NSUUID: return allows(NSUUID.self)
      case is NSNull: return allows(NSNull.self)
      case is NSNumber: return allows(NSNumber.self)
      case let array as [Any]:
        return allows(NSArray.self) && array.allSatisfy { canHold($0, allowing: allowed) }
      case let set as Set<AnyHashable>:
        return allows(NSSet.self) && set.allSatisfy { canHold($0.base, allowing: allowed) }
      case let dictionary as [AnyHashable: Any]:
        return allows(NSDictionary.self)
          && dictionary.allSatisfy {
            canHold($0.key.base, allowing: allowed) && canHold($0.value, allowing: allowed)
          }
      case let object as NSObject & NSSecureCoding:
        return type(of: object).supportsSecureCoding && allows(type(of: object))
      default: return false
      }
    }
  }

  // MARK: - Archives of plain values

  /// Reads NSKeyedArchiver archives from untrusted files.
  package enum PlainArchive {
    /// Returns the value of an archive of strings, numbers, dates, data, URLs, UUIDs and collections of them.
    ///
    /// Throws for an archive that contains an object of another class, and for a damaged one.
    package static func value(_ data: Data) throws -> Any {
      try KeyedArchive(data, allowing: KeyedArchive.plainClasses).plainRoot()
    }

    /// Whether data is an archive, of any classes.
    package static func isArchive(_ data: Data) -> Bool {
      guard case .dictionary(let fields)? = try? BinaryPropertyList.decode(data) else {
        return false
      }
      return fields["$archiver"] != nil
    }
  }
#endif
