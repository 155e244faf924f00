public import Foundation
public import SwiftData

/// More properties than a word has bits, with relationships on both sides of the 64th.
@Model public final class Wide {
  public var number: Int
  public var score: Int
  public var first: Wide?
  public var v0: Int = 0
  public var v1: String = "0"
  public var v2: Bool = false
  public var v3: Double = 0.0
  public var v4: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v5: Int? = nil
  public var v6: String? = nil
  public var v7: Data = Data()
  public var v8: Int = 0
  public var v9: String = "0"
  public var v10: Bool = false
  public var v11: Double = 0.0
  public var v12: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v13: Int? = nil
  public var v14: String? = nil
  public var v15: Data = Data()
  public var v16: Int = 0
  public var v17: String = "0"
  public var v18: Bool = false
  public var v19: Double = 0.0
  public var v20: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v21: Int? = nil
  public var v22: String? = nil
  public var v23: Data = Data()
  public var v24: Int = 0
  public var v25: String = "0"
  public var v26: Bool = false
  public var v27: Double = 0.0
  public var v28: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v29: Int? = nil
  public var v30: String? = nil
  public var v31: Data = Data()
  public var v32: Int = 0
  public var v33: String = "0"
  public var v34: Bool = false
  public var v35: Double = 0.0
  public var v36: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v37: Int? = nil
  public var v38: String? = nil
  public var v39: Data = Data()
  public var v40: Int = 0
  public var v41: String = "0"
  public var v42: Bool = false
  public var v43: Double = 0.0
  public var v44: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v45: Int? = nil
  public var v46: String? = nil
  public var v47: Data = Data()
  public var v48: Int = 0
  public var v49: String = "0"
  public var v50: Bool = false
  public var v51: Double = 0.0
  public var v52: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v53: Int? = nil
  public var v54: String? = nil
  public var v55: Data = Data()
  public var v56: Int = 0
  public var v57: String = "0"
  public var v58: Bool = false
  public var v59: Double = 0.0
  public var v60: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v61: Int? = nil
  public var v62: String? = nil
  public var v63: Data = Data()
  public var v64: Int = 0
  public var v65: String = "0"
  public var v66: Bool = false
  public var v67: Double = 0.0
  public var v68: Date = Date(timeIntervalSinceReferenceDate: 0)
  public var v69: Int? = nil
  @Relationship(deleteRule: .nullify, inverse: \Wide.first) public var rest: [Wide] = []
  public var v70: String? = nil
  public var v71: Data = Data()
  public var v72: Int = 0
  public var v73: String = "0"
  public var v74: Bool = false
  public var v75: Double = 0.0
  @Attribute(.unique) public var name: String? = nil

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}
