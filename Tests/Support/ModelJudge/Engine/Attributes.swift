import Foundation
import SwiftData

/// A model of the judge's: what all its classes have.
protocol Numbered: PersistentModel {
  var number: Int { get }
  var score: Int { get set }
  init(number: Int, score: Int)
}

extension Person: Numbered {}
extension Item: Numbered {}
extension Card: Numbered {}
extension Tag: Numbered {}
extension Place: Numbered {}
extension Wide: Numbered {}
extension Yard: Numbered {}
extension Plant: Numbered {}

/// A type of attribute whose values stand for the reference's numbers.
protocol Sample {
  init(sample: Int?)
  /// The number; `unknown` for a value that no number stands for.
  var sample: Int? { get }
}

private let unknown = -1

extension Int: Sample {
  init(sample: Int?) { self = sample ?? 0 }
  var sample: Int? { self }
}

extension String: Sample {
  init(sample: Int?) { self = "\(sample ?? 0)" }
  var sample: Int? { Int(self) ?? unknown }
}

extension Bool: Sample {
  init(sample: Int?) { self = sample == 1 }
  var sample: Int? { self ? 1 : 0 }
}

extension Double: Sample {
  init(sample: Int?) { self = Double(sample ?? 0) / 4 }
  var sample: Int? { Int(exactly: self * 4) ?? unknown }
}

extension Date: Sample {
  init(sample: Int?) { self.init(timeIntervalSinceReferenceDate: Double(sample ?? 0) / 4) }
  var sample: Int? { Int(exactly: timeIntervalSinceReferenceDate * 4) ?? unknown }
}

extension Data: Sample {
  init(sample: Int?) { self = Data(repeating: 7, count: sample ?? 0) }
  var sample: Int? { count }
}

extension Optional: Sample where Wrapped: Sample {
  init(sample: Int?) { self = sample.map { Wrapped(sample: $0) } }
  var sample: Int? { flatMap(\.sample) }
}

/// Reads and writes one attribute of any object.
struct AttributeAccess {
  let get: (any Numbered) -> Int?
  let set: (any Numbered, Int?) -> Void

  init<Model: Numbered, Value: Sample>(_ path: ReferenceWritableKeyPath<Model, Value>) {
    get = { ($0 as? Model).flatMap { $0[keyPath: path].sample } }
    set = { ($0 as? Model)?[keyPath: path] = Value(sample: $1) }
  }

  // Immutable: made once, of key paths that capture nothing.
  nonisolated(unsafe) private static let all: [Kind: [AttributeAccess]] = [
    .person: [
      AttributeAccess(\Person.score), AttributeAccess(\Person.note), AttributeAccess(\Person.name),
    ],
    .item: [
      AttributeAccess(\Item.score), AttributeAccess(\Item.note), AttributeAccess(\Item.name),
    ],
    .card: [AttributeAccess(\Card.score), AttributeAccess(\Card.name)],
    .tag: [
      AttributeAccess(\Tag.score), AttributeAccess(\Tag.name), AttributeAccess(\Tag.row),
      AttributeAccess(\Tag.column),
    ],
    .place: [AttributeAccess(\Place.score), AttributeAccess(\Place.name)],
    .yard: [AttributeAccess(\Yard.score), AttributeAccess(\Yard.name)],
    .plant: [AttributeAccess(\Plant.score), AttributeAccess(\Plant.name)],
    .wide: [AttributeAccess(\Wide.score)] + wide + [AttributeAccess(\Wide.name)],
  ]

  /// The attributes of a class, in the order of the reference's values.
  static func of(_ kind: Kind) -> [AttributeAccess] { all[kind] ?? [] }

  // Immutable: made once, of key paths that capture nothing.
  nonisolated(unsafe) private static let wide: [AttributeAccess] = [
    AttributeAccess(\Wide.v0),
    AttributeAccess(\Wide.v1),
    AttributeAccess(\Wide.v2),
    AttributeAccess(\Wide.v3),
    AttributeAccess(\Wide.v4),
    AttributeAccess(\Wide.v5),
    AttributeAccess(\Wide.v6),
    AttributeAccess(\Wide.v7),
    AttributeAccess(\Wide.v8),
    AttributeAccess(\Wide.v9),
    AttributeAccess(\Wide.v10),
    AttributeAccess(\Wide.v11),
    AttributeAccess(\Wide.v12),
    AttributeAccess(\Wide.v13),
    AttributeAccess(\Wide.v14),
    AttributeAccess(\Wide.v15),
    AttributeAccess(\Wide.v16),
    AttributeAccess(\Wide.v17),
    AttributeAccess(\Wide.v18),
    AttributeAccess(\Wide.v19),
    AttributeAccess(\Wide.v20),
    AttributeAccess(\Wide.v21),
    AttributeAccess(\Wide.v22),
    AttributeAccess(\Wide.v23),
    AttributeAccess(\Wide.v24),
    AttributeAccess(\Wide.v25),
    AttributeAccess(\Wide.v26),
    AttributeAccess(\Wide.v27),
    AttributeAccess(\Wide.v28),
    AttributeAccess(\Wide.v29),
    AttributeAccess(\Wide.v30),
    AttributeAccess(\Wide.v31),
    AttributeAccess(\Wide.v32),
    AttributeAccess(\Wide.v33),
    AttributeAccess(\Wide.v34),
    AttributeAccess(\Wide.v35),
    AttributeAccess(\Wide.v36),
    AttributeAccess(\Wide.v37),
    AttributeAccess(\Wide.v38),
    AttributeAccess(\Wide.v39),
    AttributeAccess(\Wide.v40),
    AttributeAccess(\Wide.v41),
    AttributeAccess(\Wide.v42),
    AttributeAccess(\Wide.v43),
    AttributeAccess(\Wide.v44),
    AttributeAccess(\Wide.v45),
    AttributeAccess(\Wide.v46),
    AttributeAccess(\Wide.v47),
    AttributeAccess(\Wide.v48),
    AttributeAccess(\Wide.v49),
    AttributeAccess(\Wide.v50),
    AttributeAccess(\Wide.v51),
    AttributeAccess(\Wide.v52),
    AttributeAccess(\Wide.v53),
    AttributeAccess(\Wide.v54),
    AttributeAccess(\Wide.v55),
    AttributeAccess(\Wide.v56),
    AttributeAccess(\Wide.v57),
    AttributeAccess(\Wide.v58),
    AttributeAccess(\Wide.v59),
    AttributeAccess(\Wide.v60),
    AttributeAccess(\Wide.v61),
    AttributeAccess(\Wide.v62),
    AttributeAccess(\Wide.v63),
    AttributeAccess(\Wide.v64),
    AttributeAccess(\Wide.v65),
    AttributeAccess(\Wide.v66),
    AttributeAccess(\Wide.v67),
    AttributeAccess(\Wide.v68),
    AttributeAccess(\Wide.v69),
    AttributeAccess(\Wide.v70),
    AttributeAccess(\Wide.v71),
    AttributeAccess(\Wide.v72),
    AttributeAccess(\Wide.v73),
    AttributeAccess(\Wide.v74),
    AttributeAccess(\Wide.v75),
  ]
}
