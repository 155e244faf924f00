#if !canImport(Darwin)
  import Foundation

  /// Reads archives of `NSKeyedArchiver` without trusting them.
  ///
  /// `NSKeyedUnarchiver` of swift-corelibs-foundation calls `fatalError` for a damaged archive, and
  /// for a class that isn't allowed. Files and columns are untrusted input, so this type checks the
  /// archive first, decodes values of Foundation's own classes by itself, and hands only archives
  /// of the user's allowed classes to Foundation. Every other archive throws.
  ///
  /// The format is a binary property list:
  ///
  /// | key        | meaning                                                                   |
  /// | ---------- | ------------------------------------------------------------------------- |
  /// | `$archiver` | `NSKeyedArchiver`                                                        |
  /// | `$top`     | a dictionary, its `root` the index of the value                           |
  /// | `$objects` | the values: strings, numbers and data as they are, others as dictionaries |
  /// | `$class`   | in such a dictionary: the index of one with `$classname` and `$classes`   |
  package struct KeyedArchive {
    /// The archive is damaged, or has an object of a class that isn't allowed.
    struct Unreadable: Error {}

    /// The maximum nesting depth. A damaged archive can contain a cycle, which recursion would
    /// follow until the stack is exhausted.
    private static let depthLimit = 200
    /// The maximum number of values in an archive of plain values. An archive of a few kilobytes in
    /// which each object contains the one before twice expands to more values than any memory
    /// holds.
    private static let expansionLimit = 10_000_000

    /// The classes of plain values, whose instances cannot run code of their own.
    package static var plainClasses: [AnyClass] {
      [
        NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self,
        NSData.self, NSURL.self, NSUUID.self, NSNull.self,
      ]
    }

    private let data: Data
    /// The archive's objects, which refer to each other by index.
    private let objects: [PropertyList]
    /// The index of the root object.
    private let top: Int
    /// The classes that may occur. Instances of their subclasses are allowed, too, as in
    /// `NSKeyedUnarchiver`.
    private let allowed: [AnyClass]

    /// Decodes the property list; the objects are decoded by ``root()`` or ``plainRoot()``.
    ///
    /// - Throws: ``PropertyListError`` or `Unreadable` for data that isn't a keyed archive with one
    ///   root.
    package init(_ data: Data, allowing allowed: [AnyClass]) throws {
      guard case .dictionary(let archive) = try BinaryPropertyList.decode(data),
        case .array(let objects) = archive["$objects"],
        case .dictionary(let roots) = archive["$top"],
        // Archives may have several roots; NSKeyedArchiver's convenience methods use this one.
        let top = roots["root"].flatMap(Self.reference)
      else { throw Unreadable() }
      self.data = data
      self.objects = objects
      self.top = top
      self.allowed = allowed
    }

    /// The archived value.
    ///
    /// Archives of Foundation's usual classes are decoded here, all others by `NSKeyedUnarchiver`.
    /// It gets only those whose class names were all checked, but other damage to them can still
    /// make it crash, so this is for data that the program has written itself.
    ///
    /// - Throws: `Unreadable`, and the errors of `NSKeyedUnarchiver`.
    package func root() throws -> Any {
      if try containsOnlyBuiltIns() { return try object(at: top, depth: 0) }
      // The archiver stores these two inline, without a class; NSKeyedUnarchiver requires them to
      // be listed nevertheless.
      let types = allowed + [NSString.self, NSNumber.self]
      // From here on Foundation decodes, which would end the process for a class that wasn't
      // checked.
      guard let value = try NSKeyedUnarchiver.unarchivedObject(ofClasses: types, from: data)
      else { throw Unreadable() }
      return value
    }

    /// The value of an archive that contains only Foundation's usual classes, for data from
    /// untrusted files.
    ///
    /// `NSKeyedUnarchiver` is never called.
    ///
    /// - Throws: `Unreadable` for an archive with any other class, or with more than ten million
    ///   values.
    package func plainRoot() throws -> Any {
      guard try containsOnlyBuiltIns() else { throw Unreadable() }
      var counts: [Int: Int] = [:]
      // Before any value is made: it is the expansion that takes the memory.
      _ = try count(at: top, &counts, depth: 0)
      return try object(at: top, depth: 0)
    }

    /// The number of values in an object after expansion, which counts a shared object at each
    /// occurrence.
    ///
    /// Memoized in `counts`, so the cost is linear in the number of references although the result
    /// can be exponential. The limit is checked at each addition, so `total` never overflows.
    /// Cycles end at `depthLimit`.
    private func count(at index: Int, _ counts: inout [Int: Int], depth: Int) throws -> Int {
      // Without the memo the count itself would take exponential time.
      if let count = counts[index] { return count }
      guard objects.indices.contains(index), depth < Self.depthLimit else { throw Unreadable() }
      var total = 1
      func add(_ value: PropertyList) throws {
        guard let object = Self.reference(value) else { return }
        total += try count(at: object, &counts, depth: depth + 1)
        if total > Self.expansionLimit { throw Unreadable() }
      }
      // References are in fields, or in arrays of fields, such as NS.objects; nothing nests deeper.
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

    /// Whether the archive contains only classes that are decoded here.
    ///
    /// - Throws: `Unreadable` for a class that isn't allowed. This must happen before
    ///   `NSKeyedUnarchiver` sees the archive, since it ends the process.
    private func containsOnlyBuiltIns() throws -> Bool {
      // All classes are checked, even after one that isn't built in: the caller passes the archive
      // to Foundation then.
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

    /// Throws unless a class exists in this process, and is allowed.
    private func checkAllowed(_ className: String) throws {
      let type: AnyClass? =
        NSKeyedUnarchiver.class(forClassName: className) ?? NSClassFromString(className)
      guard let type, Self.isAllowed(type, allowed) else { throw Unreadable() }
    }

    /// The index of the object that a value refers to; nil if it isn't a reference.
    private static func reference(_ value: PropertyList) -> Int? {
      guard case .dictionary(let fields) = value else { return nil }
      return BinaryPropertyList.reference(fields).map { Int($0) }
    }

    /// Whether a class or one of its superclasses is among the allowed ones.
    private static func isAllowed(_ type: AnyClass, _ allowed: [AnyClass]) -> Bool {
      var type: AnyClass? = type
      while let current = type {
        if allowed.contains(where: { $0 == current }) { return true }
        type = _getSuperclass(current)
      }
      return false
    }

    // MARK: - Values

    /// The classes whose instances are decoded here, mutable variants included.
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

    /// Decodes the object at an index.
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

    /// Converts a value that the archive stores inline, if its class is allowed.
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
      // An array is never an object by itself: NSArray is archived as a dictionary with NS.objects.
      case .array, .dictionary: throw Unreadable()
      }
      guard Self.isAllowed(type, allowed) else { throw Unreadable() }
      return value
    }

    /// Decodes the fields of an object.
    ///
    /// Several keys have two forms: Apple's archiver and that of swift-corelibs-foundation differ
    /// in them, and so do versions of the first.
    private func value(_ builtIn: BuiltIn, _ fields: PropertyList.Fields, depth: Int) throws -> Any
    {
      switch builtIn {
      case .array: return try elements("NS.object", fields, depth)
      // Elements of an archived set are hashable, unless the archive is damaged.
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

    /// The value of the first of several keys that exists, stored inline or by reference.
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
        // Of another type than the caller wants: the next name may have it.
        if let value = value as? Value { return value }
      }
      throw Unreadable()
    }

    /// The elements of a list of references: `NS.objects`, or `NS.object.0`, `NS.object.1` … in
    /// older archives.
    private func elements(_ name: String, _ fields: PropertyList.Fields, _ depth: Int) throws
      -> [Any]
    {
      var references: [PropertyList] = []
      if let table = fields[name + "s"] {
        guard case .array(let found) = table else { throw Unreadable() }
        references = found
      } else {
        // Older archives number the references instead of listing them.
        while let found = fields["\(name).\(references.count)"] { references.append(found) }
      }
      return try references.map { found in
        guard let index = Self.reference(found) else { throw Unreadable() }
        return try object(at: index, depth: depth)
      }
    }

    /// A dictionary, which has its keys and values in two parallel lists.
    private func dictionary(_ fields: PropertyList.Fields, _ depth: Int) throws -> [AnyHashable:
      Any]
    {
      let keys = try hashable(elements("NS.key", fields, depth))
      let values = try elements("NS.object", fields, depth)
      guard keys.count == values.count else { throw Unreadable() }
      // A damaged archive may have one key twice; `uniqueKeysWithValues` would trap.
      return Dictionary(zip(keys, values)) { first, _ in first }
    }

    /// The values as members of a set or keys of a dictionary; throws if one isn't hashable.
    private func hashable(_ values: [Any]) throws -> [AnyHashable] {
      try values.map { value in
        guard let value = value as? AnyHashable else { throw Unreadable() }
        return value
      }
    }

    /// A URL, relative to its base if it has one.
    private func url(_ fields: PropertyList.Fields, _ depth: Int) throws -> URL {
      let text = try field(["NS.relative"], fields, String.self, depth)
      var base: URL?
      if let index = fields["NS.base"].flatMap(Self.reference), index != 0 {
        // A relative URL is archived with its base, which may itself be relative.
        base = try object(at: index, depth: depth) as? URL
      }
      // A base of another type counts as none: the text may be an absolute URL.
      guard let url = URL(string: text, relativeTo: base) else { throw Unreadable() }
      return url
    }

    /// The identifier in 16 bytes, the only length for which `loadUnaligned` stays within the data.
    private func uuid(_ fields: PropertyList.Fields, _ depth: Int) throws -> UUID {
      let bytes = try field(["NS.uuidbytes"], fields, Data.self, depth)
      guard bytes.count == 16 else { throw Unreadable() }
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    // MARK: - Encoding

    /// Whether `NSKeyedArchiver` can encode a value of allowed classes.
    ///
    /// The archiver calls `fatalError` for a value that it cannot encode, so callers ask before.
    /// Checks collections recursively; cost is linear in the number of values.
    package static func canHold(_ value: Any, allowing allowed: [AnyClass]) -> Bool {
      func allows(_ type: AnyClass) -> Bool { isAllowed(type, allowed) }
      // String and NSString alike: off Apple a bridged value keeps its Swift type.
      switch value {
      case is String, is NSString: return allows(NSString.self)
      case is Date, is NSDate: return allows(NSDate.self)
      case is Data, is NSData: return allows(NSData.self)
      case is URL, is NSURL: return allows(NSURL.self)
      case is UUID, is NSUUID: return allows(NSUUID.self)
      case is NSNull: return allows(NSNull.self)
      // Before collections: a number is never one.
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

  /// Reads archives of `NSKeyedArchiver` from untrusted files.
  package enum PlainArchive {
    /// The value of an archive of strings, numbers, dates, data, URLs, UUIDs and collections of
    /// those.
    ///
    /// - Throws: For a damaged archive, and one that contains an object of any other class.
    package static func value(_ data: Data) throws -> Any {
      try KeyedArchive(data, allowing: KeyedArchive.plainClasses).plainRoot()
    }

    /// Whether data is a keyed archive, whatever its classes.
    package static func isArchive(_ data: Data) -> Bool {
      guard case .dictionary(let fields)? = try? BinaryPropertyList.decode(data) else {
        return false
      }
      return fields["$archiver"] != nil
    }
  }
#endif
