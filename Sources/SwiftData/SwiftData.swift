// What Apple's framework brings with it, too: its own API, and Foundation.
@_exported public import Foundation
@_exported public import SteadRecords
